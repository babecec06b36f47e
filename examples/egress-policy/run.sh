#!/usr/bin/env bash
# EgressPolicies that allow, deny and audit: starts an origin that echoes requests, and the gateway; sends requests with curl, and shows why
# each got its answer; stops both. run.sh --keep leaves them running until Ctrl-C.
# SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=egress-policy
source examples/run_example.sh
here=$PWD/examples/egress-policy
url=http://127.0.0.1:10580
sent=0

# request CURL-OPTIONS... PATH: sends a request, and prints its status, and the decision in its line of the access log.
request() {
  local path=${*: -1}
  show_command curl "${@:1:$#-1}" "$url$path"
  echo "   <- $(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "${@:1:$#-1}" "$url$path")"
  sent=$((sent + 1))
  for _ in $(seq 300); do
    if [ "$(grep -c . "$logs/gateway.log" || true)" -ge $sent ]; then break; fi
    sleep 0.1
  done
  sed -n "${sent}s|.*\"policy\":\"\([^\"]*\)\",\"rule\":\"\([^\"]*\)\",\"decision\":\"\([^\"]*\)\".*|      \3 by the rule \2 of \1|p" "$logs/gateway.log"
}

need_programs
need_ports 10580 10581 10501 10502
start origin 10581 "$bin/sluice-echo" --listen 127.0.0.1:10581
start gateway http://127.0.0.1:10502/readyz "$bin/sluice" run --config "$here" --admin 127.0.0.1:10501 --health 127.0.0.1:10502

echo "1. The models are allowed; a policy that is only tried out would deny them, because the hop is not encrypted"
request /v1/models
echo "2. The route's own policy denies deletions"
request -X DELETE /v1/models/1
echo "3. A name that is denied is not even looked up, and no route lifts that"
request /pastebin
echo "4. A name that no rule allows leads to an address that none allows either"
request /tracker
echo "5. explain answers the same before a request is sent: which policy decides, and by which rule"
explain=("$bin/sluice" explain --config "$here" --resolve --method DELETE --from 127.0.0.1 --url "$url/v1/models/1")
show_command sluice "${explain[@]:1}"
"${explain[@]}" | grep -E '^ +(egress|audited|answer) ' | sed 's/^/    /'
echo "6. The decisions are counted"
curl -s http://127.0.0.1:10501/metrics | grep '^sluice_egress_decisions_total' | sed 's/^/      /'
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl "$url/v1/models"
  show_command curl -s http://127.0.0.1:10501/events
  wait "${pids[@]}"
fi
