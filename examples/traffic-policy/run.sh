#!/usr/bin/env bash
# Fail-over, retries and health checks between a Service of the cluster and a provider outside: starts two origins that echo requests, and
# the gateway; sends requests with curl while the Service serves, is gone, and is back; stops all three. run.sh --keep leaves them running until Ctrl-C.
# SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=traffic-policy
source examples/run_example.sh
here=$PWD/examples/traffic-policy
url=http://127.0.0.1:10480/v1/models

# who_answers COUNT: sends requests, and prints which origins answered to how many of them.
who_answers() {
  show_command curl -s "$url"
  for _ in $(seq "$1"); do
    curl -sS --max-time 10 -w '%{http_code}\n' "$url"
  done | grep -oE '"x-backend: [^"]*"|^[1-5][0-9]{2}$' | sort | uniq -c | sed 's/"x-backend: \(.*\)"/requests reached the \1/; s/ \([0-9]*\)$/ answers with \1/'
}

# retried COUNT: prints how many of so many requests had more than one attempt, as the access log has it, which is written a little later.
logged() { grep -c . "$logs/gateway.log" || true; }
retried() {
  wait_until "^$1\$" logged
  echo "      $(grep -cE '"attempts":([2-9]|[1-9][0-9])' "$logs/gateway.log") of them after a retry"
}

# health: prints what the health checks have found, as the metrics have it.
health() {
  curl -s http://127.0.0.1:10401/metrics |
    sed -nE 's|^sluice_upstream_endpoint_healthy\{backend="demo/([a-z]*)".* ([01])$|the \1 is \2|p' | sed 's/0$/unhealthy/; s/1$/healthy/'
}

# wait_until TEXT COMMAND: waits until the command prints TEXT.
wait_until() {
  for _ in $(seq 300); do
    if $2 | grep -q "$1"; then return; fi
    sleep 0.1
  done
  fail "$2 does not say $1" "$logs/gateway.err"
}

need_programs
need_ports 10480 10443 10444 10401 10402
start provider 10444 "$bin/sluice-echo" --listen 127.0.0.1:10444
start gateway http://127.0.0.1:10402/readyz "$bin/sluice" run --config "$here" --admin 127.0.0.1:10401 --health 127.0.0.1:10402
start local 10443 "$bin/sluice-echo" --listen 127.0.0.1:10443
# The gateway may have asked it before it was there.
wait_until "local is healthy" health

echo "1. Both serve: the local Service gets every request, and nothing leaves the cluster"
who_answers 20
echo "2. The Service is gone: no request fails, because what it does not take is tried again at the provider"
kill "${pids[-1]}"
wait "${pids[-1]}" 2>/dev/null || true
unset 'pids[-1]'
who_answers 20
retried 40
echo "3. The health checks find that out, so no request goes there any more"
wait_until "local is unhealthy" health
show_command curl -s http://127.0.0.1:10401/metrics
health | sed 's/^/      /'
echo "4. The Service is back: the health checks find that out, too, and requests follow"
start local 10443 "$bin/sluice-echo" --listen 127.0.0.1:10443
wait_until "local is healthy" health
wait_until '"x-backend: local"' "curl -s --max-time 10 $url"
who_answers 20
echo "Look next at config/reference/traffic-policy.md."
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:10401
  wait "${pids[@]}"
fi
