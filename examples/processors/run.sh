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

# saw_body: prints the body that the origin saw.
saw_body() { grep -oE '"body_start": "([^"\\]|\\.)*"' "$logs/answer" | sed 's/^/      the origin saw: /'; }

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

# The Backend that uses the library, beside the configuration of this folder.
private_models() {
  cat <<'YAML'
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: demo, name: private-models}
spec:
  parentRefs: [{name: egress}]
  rules:
    - matches: [{path: {type: PathPrefix, value: /private}}]
      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: no-pii, port: 10543}]
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {namespace: demo, name: no-pii}
spec:
  destination:
    type: FQDN
    fqdn: {hostname: origin.example.test, port: 10543}
  tls:
    mode: Terminate
    sni: origin.example.test
    caBundleRef: {name: origin-ca}
  extensions:
    - name: pii-detector
      type: acme.example.com/PIIDetector:v1
      phase: request-body
      priority: 20
      failOpen: false
      preAuth: true
      config: {modelRef: pii-detect-small, redactionStyle: delete, confidenceThreshold: 0.7, maxBodyBytes: 2097152}
YAML
}

# build_library: builds pii-detector.so with its own CMake, unless the programs have one beside them.
build_library() {
  libraries=$bin/libraries
  if [ -f "$libraries/pii-detector.so" ]; then return; fi
  libraries=$logs/pii-detector
  { cmake -S "$here/pii-detector" -B "$libraries" && cmake --build "$libraries"; } >"$logs/library.log" 2>&1 ||
    fail "the library could not be built" "$logs/library.log"
}

personal_data() {
  echo "4. A library of one's own (pii-detector): personal data does not reach the origin"
  local body='{"prompt": "write to ann@example.test, card 4111 1111 1111 1111"}'
  show_command curl --json "$body" "${url/v1\/chat\/completions/private}"
  curl -sS --max-time 10 -o "$logs/answer" -w '   <- %{http_code}\n' --json "$body" "${url/v1\/chat\/completions/private}"
  saw_body
}

prompt_policy() {
  echo "5. A script of one's own in Lua (prompt-policy): it caps max_tokens by tier, and removes the user"
  local body='{"prompt": "hello", "max_tokens": 9000, "user": "ann"}' tier
  for tier in free gold; do
    url=${url/v1\/chat\/completions/capped} FIELDS="x-tier" request -H "x-tier: $tier" --json "$body"
    saw_body
  done
}

need_programs
need_ports 10180 10543 9911 9912
build_library
private_models >"$logs/private-models.yaml"
awk '/BEGIN CERT/,/END CERT/ { sub(/^ +/, ""); print }' "$here/backend.yaml" >"$logs/ca.crt"
start origin https://origin.example.test:10543/ \
  "$bin/sluice-echo" --listen 127.0.0.1:10543 --tls-cert "$origin/demo-only.crt" --tls-key "$origin/demo-only.key"
start gateway http://127.0.0.1:9912/readyz \
  "$bin/sluice" run --config "$here" --config "$logs/private-models.yaml" --library-dir "$libraries" --admin 127.0.0.1:9911 --health 127.0.0.1:9912

credential_injection
qos
model_routing
personal_data
prompt_policy
echo "Look next at examples/processors/*.yaml. What this gateway can run:"
show_command "$bin/sluice" catalog --config "$here" --library-dir "$libraries"
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl -H "x-tenant: c" --json '{"model": "large"}' "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:9911
  wait "${pids[@]}"
fi
