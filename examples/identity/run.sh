#!/usr/bin/env bash
# Workloads with certificates: makes an authority and certificates with SPIFFE IDs, starts an origin that echoes requests, and the gateway; sends
# requests with curl as several workloads, two of which have budgets of their own, and one may not go out; stops both. Ends with 1 if anything
# is not as expected. run.sh --keep leaves them running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../.."
example=identity
source examples/run_example.sh
here=$PWD/examples/identity
url=https://localhost:10743
pki=$logs/pki
config=$logs/config

# make_authority NAME: makes a root.
make_authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=$1" -keyout "$pki/$1.key" -out "$pki/$1.crt" \
    2>>"$logs/openssl.err"
}

# issue NAME AUTHORITY EXTENSIONS: makes a certificate.
issue() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$pki/$1.key" -out "$pki/$1.csr" 2>>"$logs/openssl.err"
  printf '%b' "$3" >"$pki/$1.ext"
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/$2.crt" -CAkey "$pki/$2.key" -CAcreateserial -days 1 -extfile "$pki/$1.ext" -out "$pki/$1.crt" \
    2>>"$logs/openssl.err"
}

# issue_workload NAME AUTHORITY NAMESPACE/ACCOUNT: makes the certificate of a workload. In a cluster, SPIRE or cert-manager makes it.
issue_workload() {
  issue "$1" "$2" "subjectAltName=URI:spiffe://cluster.local/ns/${3%/*}/sa/${3#*/}\nextendedKeyUsage=clientAuth\n"
}

# write_gateway: writes the Gateway with an HTTPS listener, whose clients need a certificate of the authority of workloads.
write_gateway() {
  cat "$here/gateway.yaml" - <<YAML
    - {name: https, protocol: HTTPS, port: 10743, tls: {certificateRefs: [{name: egress-tls}]}}
  tls:
    frontend:
      default:
        validation: {caCertificateRefs: [{group: "", kind: ConfigMap, name: workload-ca}]}
---
apiVersion: v1
kind: Secret
metadata: {namespace: demo, name: egress-tls}
type: kubernetes.io/tls
stringData:
  tls.crt: |
$(sed 's/^/    /' "$pki/gateway.crt")
  tls.key: |
$(sed 's/^/    /' "$pki/gateway.key")
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: demo, name: workload-ca}
data:
  ca.crt: |
$(sed 's/^/    /' "$pki/workloads.crt")
YAML
}

# requests COUNT EXPECTED CURL-OPTIONS...: sends requests, prints their statuses, and fails if these are not the expected ones. The status of a
# request that the gateway has not taken is 000.
requests() {
  local count=$1 expected=$2 got
  shift 2
  show_command curl --cacert "$pki/gateways.crt" "$@" "$url/v1/models?[1-$count]"
  got=$(curl -s --max-time 10 -o "$logs/answer" -w '%{http_code} ' --cacert "$pki/gateways.crt" "$@" "$url/v1/models?[1-$count]" 2>/dev/null || true)
  got=${got% }
  echo "   <- $got"
  [ "$got" = "$expected" ] || fail "the statuses should be $expected" "$logs/gateway.err"
}

# as NAME: the options of curl by which it is that workload.
as() { workload=(--cert "$pki/$1.crt" --key "$pki/$1.key"); }

# expect TEXT FILE: fails if the file does not have the text.
expect() { grep -qF -- "$1" "$2" || fail "there is no $1" "$2"; }

need_programs
need_ports 10743 10780 10781 10701 10702
mkdir -p "$pki" "$config"
make_authority gateways
make_authority workloads
make_authority strangers
issue gateway gateways "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n"
issue_workload cart workloads shop/cart
issue_workload batch workloads shop/batch
issue_workload debug workloads shop/debug
issue_workload stranger strangers shop/cart
cp "$here/policies.yaml" "$here/routes.yaml" "$config"
write_gateway >"$config/gateway.yaml"
start origin 10781 "$bin/sluice-echo" --listen 127.0.0.1:10781
start gateway http://127.0.0.1:10702/readyz "$bin/sluice" run --config "$config" --admin 127.0.0.1:10701 --health 127.0.0.1:10702

echo "1. The account shop/cart has a budget of 5 requests; the origin learns who asks, and not what the client says about it"
as cart
requests 1 200 "${workload[@]}" -H "x-caller: admin/root"
expect '"x-caller: shop/cart"' "$logs/answer"
grep -oE '"x-caller: [^"]*"' "$logs/answer" | sed 's/^/      the origin saw: /'
requests 6 "200 200 200 200 429 429" "${workload[@]}"
echo "2. The account shop/batch has 2, and nothing of it is spent yet"
as batch
requests 4 "200 200 429 429" "${workload[@]}"
echo "3. The account shop/debug may not go out"
as debug
requests 1 403 "${workload[@]}"
echo "4. Without a certificate there is no connection, nor with one of another authority"
requests 1 000
as stranger
requests 1 000 "${workload[@]}"
echo "5. The listener without TLS takes everybody, but knows nobody: the rule about shop/debug also denies callers that are not known"
url=http://localhost:10780
requests 1 403
url=https://localhost:10743
echo "6. explain answers the same before a request is sent"
for account in shop/cart shop/debug; do
  explain=("$bin/sluice" explain --config "$config" --url "$url/v1/models" --as "$account")
  show_command sluice "${explain[@]:1}"
  "${explain[@]}" >"$logs/explained"
  grep -E '^ +egress ' "$logs/explained" | sed 's/^/    /'
done
expect no-debug "$logs/explained"
echo "7. Requests are counted by account, and the log names it"
curl -s http://127.0.0.1:10701/metrics >"$logs/metrics"
grep -E '^http_server_request_duration_seconds_count' "$logs/metrics" | grep -oE 'namespace="[^"]*",serviceAccount="[^"]*"|http_response_status_code="[0-9]*"|[0-9]+$' |
  paste -d ' ' - - - | sed 's/^/      /'
expect 'namespace="shop",serviceAccount="cart"' "$logs/metrics"
expect 'sluice_identity_total{source="certificate",result="identified"}' "$logs/metrics"
for _ in $(seq 100); do  # the lines of the log are written together, about once a second
  if grep -qF '"serviceAccount":"debug"' "$logs/gateway.log"; then break; fi
  sleep 0.1
done
expect '"namespace":"shop","serviceAccount":"debug"' "$logs/gateway.log"
grep -F '"serviceAccount":"debug"' "$logs/gateway.log" | grep -oE '"namespace":.*"assurance":"[A-Za-z]*"' | sed 's/^/      /'
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  as cart
  show_command curl --cacert "$pki/gateways.crt" "${workload[@]}" "$url/v1/models"
  wait "${pids[@]}"
fi
