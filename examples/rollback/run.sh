#!/usr/bin/env bash
# A configuration goes wrong, and nothing else does: serves a good one, breaks it, loses the process meanwhile, and mends it.
# run.sh --keep leaves it running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
source examples/show_command.sh
here=$PWD/examples/rollback
bin=$(realpath -m "${SLUICE_PROGRAMS:-build/release}")
url=http://127.0.0.1:10280/
admin=127.0.0.1:10201
health=127.0.0.1:10202
work=$(mktemp -d)
config=$work/config
pids=()
gateway=

stop() {
  if [ ${#pids[@]} != 0 ]; then kill "${pids[@]}" 2>/dev/null || true; fi
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

fail() {
  echo "rollback: $1" >&2
  tail -n 20 "$work/gateway.err" >&2 2>/dev/null || true
  exit 1
}

free() {
  if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then fail "port $1 of 127.0.0.1 is in use; this example needs it"; fi
}

# until TEXT COMMAND...: waits until the command prints TEXT.
until_says() {
  local text=$1
  shift
  for _ in $(seq 300); do
    if { "$@" 2>/dev/null || true; } | grep -q "$text"; then return; fi
    sleep 0.1
  done
  fail "\`$*\` does not say $text"
}

start_gateway() {
  "$bin/sluice" run --config "$config" --state-dir "$work/state" --admin $admin --health $health 2>>"$work/gateway.err" &
  gateway=$!
  pids+=($gateway)
  until_says ready curl -s http://$health/readyz
}

# Files are replaced in one step, so that no half file is read.
write() { sed "$1" "$here/gateway.yaml" >"$work/new.yaml" && mv "$work/new.yaml" "$config/gateway.yaml"; }

show() {
  show_command "$bin/sluice" status --admin $admin
  "$bin/sluice" status --admin $admin 2>&1 | sed -n '1,/^KIND/p' | sed -e '/^KIND/d' -e '/^$/d' -e 's/^/      /' || true
  curl -s -o /dev/null -w '   a request: %{http_code}\n' --max-time 10 $url
}

mkdir "$config"
for port in 10280 10243 10201 10202; do free "$port"; done
"$bin/sluice-echo" --listen 127.0.0.1:10243 >"$work/origin.log" 2>&1 &
pids+=($!)
until_says 10243 cat "$work/origin.log"

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
