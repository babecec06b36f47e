#!/usr/bin/env bash
# A configuration goes wrong, and nothing else does: serves a good one, breaks it, loses the process meanwhile, and mends it.
# run.sh --keep leaves it running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=rollback
source examples/run_example.sh
here=$PWD/examples/rollback
url=http://127.0.0.1:10280/
admin=127.0.0.1:10201
health=127.0.0.1:10202
config=$logs/config
gateway=

# until TEXT COMMAND...: waits until the command prints TEXT.
until_says() {
  local text=$1
  shift
  for _ in $(seq 300); do
    if { "$@" 2>/dev/null || true; } | grep -q "$text"; then return; fi
    sleep 0.1
  done
  fail "\`$*\` does not say $text" "$logs/gateway.err"
}

start_gateway() {
  "$bin/sluice" run --config "$config" --state-dir "$logs/state" --admin $admin --health $health 2>>"$logs/gateway.err" &
  gateway=$!
  pids+=($gateway)
  until_says ready curl -s http://$health/readyz
}

# Files are replaced in one step, so that no half file is read.
write() { sed "$1" "$here/gateway.yaml" >"$logs/new.yaml" && mv "$logs/new.yaml" "$config/gateway.yaml"; }

show() {
  show_command "$bin/sluice" status --admin $admin
  "$bin/sluice" status --admin $admin 2>&1 | sed -n '1,/^KIND/p' | sed -e '/^KIND/d' -e '/^$/d' -e 's/^/      /' || true
  curl -s -o /dev/null -w '   a request: %{http_code}\n' --max-time 10 $url
}

mkdir "$config"
need_ports 10280 10243 10201 10202
start origin 10243 "$bin/sluice-echo" --listen 127.0.0.1:10243

echo "1. A good configuration is served"
write ""
start_gateway
until_says InSync "$bin/sluice" status --admin $admin
show

echo "2. A bad one is refused with its reason, and the good one serves on"
write 's/^    workers: 1/    wrokers: 1/'
until_says Rollback "$bin/sluice" status --admin $admin
show

echo "3. The process is lost; the next one serves the last good configuration, although the files are wrong"
kill -9 "$gateway"
wait "$gateway" 2>/dev/null || true
start_gateway
until_says Rollback "$bin/sluice" status --admin $admin
show
show_command "$bin/sluice" revisions --admin $admin
"$bin/sluice" revisions --admin $admin | sed 's/^/      /'

echo "4. The file is mended, and served"
write 's/^    workers: 1/    workers: 2/'
until_says InSync "$bin/sluice" status --admin $admin
show

if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl -i $url
  show_command "$bin/sluice" status --admin $admin
  show_command "$bin/sluice" revisions --admin $admin
  wait "${pids[-1]}"
fi
