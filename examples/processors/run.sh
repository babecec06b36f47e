#!/usr/bin/env bash
# Payload processors on real requests: starts an HTTPS origin that echoes requests, and the gateway; sends requests with curl; stops both.
# run.sh --keep leaves both running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=processors
source examples/run_example.sh
here=$PWD/examples/processors
origin=$PWD/examples/quickstart/origin
url=http://127.0.0.1:10180/v1/chat/completions
curl_options=(--cacert "$logs/ca.crt" --resolve origin.example.test:10543:127.0.0.1)

# request CURL-OPTIONS...: sends a request, and prints the answer and those of its fields FIELDS that the origin saw.
request() {
  show_command curl "$@" "$url"
  curl -sS --max-time 10 -o "$logs/answer" -D "$logs/head" -w '   <- %{http_code}' "$@" "$url"
  tr -d '\r' <"$logs/head" | grep -i '^retry-after:' | sed 's/^/, /' | tr -d '\n' || true
  echo
  grep -oE "\"($FIELDS): [^\"]*\"" "$logs/answer" | sed 's/^/      the origin saw: /' || true
  grep -oE '"code": *"[^"]*"' "$logs/answer" | sed 's/^/      the gateway says: /' || true
}

credential_injection() {
  echo "1. CredentialInjector: the client has no key, or another one; the origin gets the gateway's"
  FIELDS=authorization request
  FIELDS=authorization request -H "Authorization: Bearer of-the-client" --http2-prior-knowledge
}

qos() {
  echo "2. QoSController: two requests at once for each tenant, then one every 30 seconds"
  for tenant in a a a b; do FIELDS=x-tenant request -H "x-tenant: $tenant"; done
}

model_routing() {
  echo "3. BodyRouter: the model that a body names chooses the Backend"
  for model in small large; do
    FIELDS="x-backend|authorization|x-gateway-model-name" request -H "x-tenant: $model" --json "{\"model\": \"$model\"}"
  done
}

need_programs
need_ports 10180 10543 9911 9912
awk '/BEGIN CERT/,/END CERT/ { sub(/^ +/, ""); print }' "$here/backend.yaml" >"$logs/ca.crt"
start origin https://origin.example.test:10543/ \
  "$bin/sluice-echo" --listen 127.0.0.1:10543 --tls-cert "$origin/demo-only.crt" --tls-key "$origin/demo-only.key"
start gateway http://127.0.0.1:9912/readyz \
  "$bin/sluice" run --config "$here" --admin 127.0.0.1:9911 --health 127.0.0.1:9912

credential_injection
qos
model_routing
echo "Look next at examples/processors/*.yaml. What this gateway can run:"
show_command "$bin/sluice" catalog --config "$here"
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl -H "x-tenant: c" --json '{"model": "large"}' "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:9911
  wait "${pids[@]}"
fi
