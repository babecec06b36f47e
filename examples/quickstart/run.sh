#!/usr/bin/env bash
# Goes from an empty machine to real traffic: installs, builds, starts an HTTPS origin and the gateway,
# sends two requests, stops everything.
# run.sh --keep leaves both running until Ctrl-C. If SLUICE_PROGRAMS is the folder of the programs, nothing is installed or built.
set -euo pipefail
cd "$(dirname "$0")/../.."
example=quickstart
logs_kept_in=$PWD/build/quickstart
source examples/run_example.sh
here=$PWD/examples/quickstart
url='http://127.0.0.1:10080/hello?from=quickstart'
curl_options=(--cacert "$logs/ca.crt" --resolve origin.example.test:10443:127.0.0.1)

prepare() {
  test/support/install.sh build
  cmake --preset release >"$logs/build.log" 2>&1 || fail "cmake failed" "$logs/build.log"
  if [ ! -x "$bin/sluice" ]; then echo "building (once, some minutes), the compiler's output is in $logs/build.log"; fi
  NINJA_STATUS='  [%f of %t, %e s] ' cmake --build --preset release --target sluice sluice-echo 2>&1 | tee -a "$logs/build.log" |
    sed -nu '/^  \[/p' || fail "the build failed" "$logs/build.log"
}

request() {
  show_command curl "$@" "$url"
  curl -sS --max-time 10 -o "$logs/answer.json" -w '   <- %{http_code}, HTTP/%{http_version}' "$@" "$url"
  echo "; the origin saw:"
  grep -E '"(method|target|authority|version|sni|alpn)"' "$logs/answer.json" | tr -d '\n' | sed 's/^ */      /; s/,  */, /g; s/, *$/\n/'
  grep -o '"x-tenant: [^"]*"' "$logs/answer.json" | sed 's/^/      added by the route: /'
}

mkdir -p "$logs"
if [ -z "${SLUICE_PROGRAMS:-}" ]; then prepare; fi
need_ports 10080 10443 9901 9902
awk '/BEGIN CERT/,/END CERT/ { sub(/^ +/, ""); print }' "$here/backend.yaml" >"$logs/ca.crt"
start origin https://origin.example.test:10443/ \
  "$bin/sluice-echo" --listen 127.0.0.1:10443 --tls-cert "$here/origin/demo-only.crt" --tls-key "$here/origin/demo-only.key"
start gateway http://127.0.0.1:9902/readyz \
  "$bin/sluice" run --config "$here" --admin 127.0.0.1:9901 --health 127.0.0.1:9902

echo "client -- plain HTTP --> sluice 127.0.0.1:10080 -- verified TLS --> https://origin.example.test:10443"
request --http1.1
request --http2-prior-knowledge
echo "Look next:"
echo "   README.md, config/reference    what it is, and everything that can be configured"
echo "   build/quickstart/     access log (gateway.log), the gateway's own log (gateway.err), the last answer in full"
echo "   examples/quickstart/*.yaml     what was just served; change it, and check it:"
show_command "$bin/sluice" validate --config "$here"
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl --http1.1 "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:9901
  wait "${pids[@]}"
fi
