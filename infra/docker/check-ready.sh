#!/bin/bash
# Health check of a service: ends with 0 when /readyz answers 200. Without node, which would start every few
# seconds in every container for this alone.
exec 3<>"/dev/tcp/127.0.0.1/${JADWAL_PORT:?must be set for the health check}" || exit 1
printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
read -r -t 4 _ status _ <&3
[ "$status" = 200 ]
