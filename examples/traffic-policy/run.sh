#!/usr/bin/env bash
# Fail-over between two providers: starts two origins that echo requests, and the gateway; sends requests with curl while the first origin
# serves, is gone, and is back; stops all three. run.sh --keep leaves them running until Ctrl-C.
# SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
source examples/show_command.sh
here=$PWD/examples/traffic-policy
bin=$(realpath -m "${SLUICE_PROGRAMS:-build/release}")
url=http://127.0.0.1:10480/v1/models
logs=$(mktemp -d)
pids=()

stop() {
  if [ ${#pids[@]} != 0 ]; then
    kill "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
  fi
  rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT TERM

fail() {
  echo "traffic-policy: $1" >&2
  if [ -n "${2:-}" ] && [ -f "$2" ]; then tail -n 20 "$2" >&2; fi
  exit 1
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
ready() { curl -sf -o /dev/null --max-time 1 http://127.0.0.1:10402/readyz; }

# start NAME CHECK COMMAND...: starts it and waits until the check, a port or a function, is passed.
start() {
  local name=$1 check=$2
  shift 2
  if [ "$check" != ready ]; then check="listens $check"; fi
  "$@" >"$logs/$name.log" 2>"$logs/$name.err" &
  pids+=($!)
  for _ in $(seq 100); do
    if $check; then return; fi
    kill -0 "${pids[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  fail "$name did not start" "$logs/$name.err"
}

# who_answers COUNT: sends requests, and prints which origins answered to how many of them.
who_answers() {
  show_command curl -s "$url"
  for _ in $(seq "$1"); do
    curl -sS --max-time 10 -w '%{http_code}\n' "$url"
  done | grep -oE '"x-backend: [^"]*"|^[1-5][0-9]{2}$' | sort | uniq -c | sed 's/"x-backend: \(.*\)"/requests reached the \1/; s/ \([0-9]*\)$/ answers with \1/'
}

first_answers() { curl -s --max-time 10 "$url" | grep -q '"x-backend: first"'; }

[ -x "$bin/sluice" ] && [ -x "$bin/sluice-echo" ] || fail "there is no $bin/sluice: examples/quickstart/run.sh builds it"
for port in 10480 10443 10444 10401 10402; do
  if listens "$port"; then fail "port $port of 127.0.0.1 is in use; this example needs it"; fi
done
start second 10444 "$bin/sluice-echo" --listen 127.0.0.1:10444
start gateway ready "$bin/sluice" run --config "$here" --admin 127.0.0.1:10401 --health 127.0.0.1:10402
start first 10443 "$bin/sluice-echo" --listen 127.0.0.1:10443

echo "1. Both providers serve: the first gets every request"
who_answers 20
echo "2. The first is gone: no request fails"
kill "${pids[-1]}"
wait "${pids[-1]}" 2>/dev/null || true
unset 'pids[-1]'
who_answers 20
echo "3. The first is back: one request finds out, and the others follow"
start first 10443 "$bin/sluice-echo" --listen 127.0.0.1:10443
for _ in $(seq 300); do
  if first_answers; then break; fi
  sleep 0.1
done
who_answers 20
echo "Look next at config/reference/traffic-policy.md."
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:10401
  wait "${pids[@]}"
fi
