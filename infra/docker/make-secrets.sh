#!/bin/sh
# Makes the secrets of one installation, each at its first start, and prints the admin token. What is there
# already stays, except a token that the environment sets. The folders are volumes; a service mounts those
# that it needs, read-only, and only its container can read them.
set -eu
umask 022

random() {
  node -p '"jdw_" + crypto.randomBytes(32).toString("base64url")'
}

# keep FILE VALUE: writes VALUE; without one keeps what the file holds, else fills it at random.
keep() {
  if [ -z "$2" ] && [ -s "$1" ]; then return; fi
  printf '%s' "${2:-$(random)}" >"$1.new"
  mv "$1.new" "$1"
}

keep /run/jadwal/api/admin-token "${JADWAL_ADMIN_TOKEN:-}"
keep /run/jadwal/viewer/token "${JADWAL_VIEWER_TOKEN:-}"
keep /run/jadwal/metrics/token "${JADWAL_METRICS_TOKEN:-}"
keep /run/jadwal/database/password ""
keep /run/jadwal/database/url "postgres://jadwal:$(cat /run/jadwal/database/password)@postgres:5432/jadwal"

echo "Jadwal       ${JADWAL_PUBLIC_URL:-http://localhost:3000}"
echo "admin token  $(cat /run/jadwal/api/admin-token)"
