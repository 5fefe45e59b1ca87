import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutputTail } from './output-tail.ts'

test('the tail is the last bytes of everything, however it was cut into chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), { maxLength: 60 }),
      (chunks) => {
        const tail = new OutputTail(50)
        for (const chunk of chunks) tail.push(Buffer.from(chunk))
        const all = chunks.join('')
        expect(tail.text()).toBe(all.slice(-50))
        expect(tail.truncated).toBe(all.length > 50)
      },
    ),
  )
})
