#!/bin/sh
# Runs what the image is asked for: a service, one of the steps secrets and migrate, or any other command.
#
# Each variable below can be given as NAME_FILE, the path of a file with its value (a Docker secret, for
# instance). A NAME that is set and not empty wins.
set -eu

fail() {
  echo "jadwal: $1" >&2
  exit 78
}

read_file_variables() {
  secrets=$(env | sed -n 's/^\(JADWAL_SECRET_[A-Za-z0-9_]*\)_FILE=.*/\1/p')
  for name in DATABASE_URL REDIS_URL SMTP_URL JADWAL_ADMIN_TOKEN JADWAL_VIEWER_TOKEN JADWAL_METRICS_TOKEN JADWAL_OIDC_CLIENT_SECRET JADWAL_TOKEN JADWAL_ENCRYPTION_KEYS $secrets; do
    file=$(printenv "${name}_FILE" || true)
    if [ -z "$file" ] || [ -n "$(printenv "$name" || true)" ]; then continue; fi
    [ -r "$file" ] || fail "${name}_FILE is $file, which can't be read; it must be the path of a file with the value of $name"
    export "$name=$(cat "$file")"
    unset "${name}_FILE"
  done
}

read_file_variables

case "${1:-}" in
  api | recorder | scheduler | worker)
    service=$1
    shift
    exec node --enable-source-maps "/app/services/$service/dist/main.js" "$@"
    ;;
  migrate) exec node --enable-source-maps /app/packages/db/dist/migrate.js ;;
  secrets) exec jadwal-make-secrets ;;
  *) exec "$@" ;;
esac
