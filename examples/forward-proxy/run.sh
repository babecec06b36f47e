#!/usr/bin/env bash
# A forward proxy: starts origins that echo requests, without TLS and with it, and the gateway; sends requests with curl, which names the
# gateway as its proxy, and shows what becomes of each; stops everything. run.sh --keep leaves all running until Ctrl-C.
# SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=forward-proxy
source examples/run_example.sh
here=$PWD/examples/forward-proxy
origin=$PWD/examples/quickstart/origin
proxy=http://127.0.0.1:10680
sent=0

# request CURL-OPTIONS... URL: sends a request through the proxy, and prints both statuses, that of the proxy's own answer to CONNECT (000 if
# there was none) and that of the request; what the origin saw; and the decision in the line of the access log.
request() {
  show_command curl -x "$proxy" "$@"
  rm -f "$logs/answer"
  curl -sS --max-time 10 -o "$logs/answer" -w '   <- CONNECT %{http_connect}, request %{http_code}\n' -x "$proxy" "$@" 2>"$logs/curl.err" || true
  if [ -f "$logs/answer" ]; then
    grep -oE '"(authorization|via): [^"]*"' "$logs/answer" | sed 's/^/      the origin saw: /' || true
    grep -oE '"detail": *"[^"]*"' "$logs/answer" | sed 's/^/      the gateway says: /' || true
  fi
  sent=$((sent + 1))
  for _ in $(seq 300); do
    if [ "$(grep -c . "$logs/gateway.log" || true)" -ge $sent ]; then break; fi
    sleep 0.1
  done
  sed -n "${sent}s|.*\"policy\":\"\([^\"]*\)\",\"rule\":\"\([^\"]*\)\",\"decision\":\"\([^\"]*\)\".*|      \3 by the rule \2 of \1|p" "$logs/gateway.log"
}

need_programs
need_ports 10680 10681 10682 10643 10601 10602
awk '/BEGIN CERT/,/END CERT/ { sub(/^ +/, ""); print }' "$here/routes.yaml" >"$logs/ca.crt"
start plain 10681 "$bin/sluice-echo" --listen 127.0.0.1:10681
start secure 10643 "$bin/sluice-echo" --listen 127.0.0.1:10643 --tls-cert "$origin/demo-only.crt" --tls-key "$origin/demo-only.key"
start gateway http://127.0.0.1:10602/readyz "$bin/sluice" run --config "$here" --admin 127.0.0.1:10601 --health 127.0.0.1:10602

echo "1. A request that names its destination, which a policy allows; the gateway sees the request, and could change it"
request http://docs.example.test:10681/guide
echo "2. A destination that no policy allows"
request http://pastebin.example.test/
echo "3. A tunnel: the client speaks TLS with the origin, and the gateway does not see what"
request --cacert "$logs/ca.crt" https://origin.example.test:10643/guide
echo "4. A tunnel that no policy allows: the gateway refuses it before it looks up the name"
request https://pastebin.example.test/
echo "5. The same origin without a tunnel: a route with a Dynamic Backend adds TLS and the key, which the client does not have"
request http://origin.example.test:10643/v1/models
echo "6. A listener that asks for a name and a password"
proxy=http://127.0.0.1:10682
request http://docs.example.test:10681/guide
request --proxy-user ann:demo-only http://docs.example.test:10681/guide
request --proxy-user ann:demo-only --cacert "$logs/ca.crt" https://origin.example.test:10643/guide
echo "7. The decisions are counted"
curl -s http://127.0.0.1:10601/metrics | grep '^sluice_egress_decisions_total' | sed 's/^/      /'
echo "Programs that read HTTP_PROXY and HTTPS_PROXY need nothing else (config/reference/forward-proxy.md):"
show_command env http_proxy=http://127.0.0.1:10680 https_proxy=http://127.0.0.1:10680 curl http://docs.example.test:10681/guide
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C."
  wait "${pids[@]}"
fi
