import { ScheduleName } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scheduleName } from './schedule-name.ts'
import { UniqueNames } from './unique-names.ts'

test.each([
  ['/opt/shop/bin/rotate-keys', 'rotate-keys'],
  ['cd /var/www && php artisan schedule:run >> /dev/null 2>&1', 'php-artisan-schedule-run'],
  ['mysqldump --single-transaction shop | gzip > /backup/x.gz', 'mysqldump-shop'],
  ['test -x /usr/bin/certbot && certbot -q renew', 'certbot-renew'],
  ['[ -x /bin/x ] || { cd / && run-parts /etc/cron.daily; }', 'run-parts-cron.daily'],
  ['LANG=C nice -n 19 /usr/bin/Backup.SH /home/', 'backup.sh-home'],
  ['cd /', 'cd'],
  ['"$HOME"', 'command'],
  ['', 'command'],
  ['plan', 'plan-2'],
])('%s is named %s', (command, name) => {
  expect(scheduleName(command, new UniqueNames())).toBe(name)
})

test('names that are taken get a number', () => {
  expect(scheduleName('/bin/x', new UniqueNames(['x', 'x-2']))).toBe('x-3')
})

test('whatever the command, its name is one that a schedule may have', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (command) => {
      expect(ScheduleName.safeParse(scheduleName(command, new UniqueNames())).success).toBe(true)
    }),
  )
})
