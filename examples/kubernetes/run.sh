#!/usr/bin/env bash
# The way out of a cluster, as its objects: applies them to the API server of the current kubeconfig, starts the gateway and the controller
# here with the rights of their ServiceAccounts, and an HTTPS origin; sends a request. The cluster needs Gateway API's CRDs.
# run.sh --keep leaves all running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release), KUBECTL the program kubectl.
set -euo pipefail
cd "$(dirname "$0")/../.."
source examples/show_command.sh
here=$PWD/examples/kubernetes
origin=$PWD/examples/quickstart/origin
crds=${SLUICE_CRDS:-$PWD/config/kustomize/crds}
bin=$(realpath -m "${SLUICE_PROGRAMS:-build/release}")
kubectl=${KUBECTL:-kubectl}
url=http://127.0.0.1:10380/v1/models
work=$(mktemp -d)
pids=()

stop() {
  if [ ${#pids[@]} != 0 ]; then kill "${pids[@]}" 2>/dev/null || true; fi
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

fail() {
  echo "kubernetes: $1" >&2
  if [ -n "${2:-}" ] && [ -f "$2" ]; then tail -n 20 "$2" >&2; fi
  exit 1
}

free() {
  if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then fail "port $1 of 127.0.0.1 is in use; this example needs it"; fi
}

# start NAME COMMAND...: starts it; until_ready NAME URL: waits until that answers.
start() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>"$work/$name.err" &
  pids+=($!)
}
until_ready() {
  for _ in $(seq 300); do
    if curl -sf -o /dev/null --max-time 1 "$2"; then return; fi
    kill -0 "${pids[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  fail "$1 did not start" "$work/$1.err"
}

# access NAME: writes a kubeconfig that has the rights of this ServiceAccount and no others.
access() {
  local cluster='jsonpath={.clusters[0].cluster'
  (
    umask 077
    cat >"$work/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: $1
clusters:
  - name: cluster
    cluster:
      server: "$("$kubectl" config view --raw --minify -o "$cluster.server}")"
      certificate-authority-data: "$("$kubectl" config view --raw --minify --flatten -o "$cluster.certificate-authority-data}")"
users: [{name: $1, user: {token: "$("$kubectl" create token "$1" --namespace sluice-system)"}}]
contexts: [{name: $1, context: {cluster: cluster, user: $1, namespace: sluice-system}}]
END
  )
}

for port in 10380 10343 9921 9922 9923 9924; do free "$port"; done
"$kubectl" get crd gateways.gateway.networking.k8s.io httproutes.gateway.networking.k8s.io >/dev/null ||
  fail "the CRDs of Gateway API are not installed; see https://gateway-api.sigs.k8s.io/guides/getting-started"

echo "1. The objects, with the rights of the gateway and of the controller"
show_command "$kubectl" apply --server-side -k "$crds"
"$kubectl" apply --server-side -k "$crds" >"$work/crds.log" || fail "the CRDs of sluice.dev cannot be applied"
"$kubectl" wait --for=condition=Established --timeout=30s -f "$crds/backends.yaml" >>"$work/crds.log"
show_command "$kubectl" apply --server-side -k "$here"
"$kubectl" apply --server-side -k "$here" | sed 's/^/      /'

echo "2. An origin outside, the controller, and the gateway"
start origin "$bin/sluice-echo" --listen 127.0.0.1:10343 --tls-cert "$origin/demo-only.crt" --tls-key "$origin/demo-only.key"
access sluice-controller
access sluice-gateway
start controller "$bin/sluice" controller --kubeconfig "$work/sluice-controller.kubeconfig" --admin 127.0.0.1:9923 --health 127.0.0.1:9924
until_ready controller http://127.0.0.1:9924/readyz
start gateway "$bin/sluice" run --kubernetes --kubeconfig "$work/sluice-gateway.kubeconfig" --admin 127.0.0.1:9921 --health 127.0.0.1:9922
until_ready gateway http://127.0.0.1:9922/readyz
"$kubectl" wait --for=condition=Programmed --timeout=30s --namespace sluice-system gateway/egress | sed 's/^/      /'

echo "3. A request: plain HTTP and no key come in, verified TLS with the key goes out"
show_command curl -i "$url"
curl -sS --max-time 10 -o "$work/answer" -w '   <- %{http_code}\n' "$url"
grep -oE '"(authorization: [^"]*|sni": *"[^"]*)"' "$work/answer" | sed 's/^/      the origin saw: /' || true

if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command "$kubectl" get gatewayclasses,gateways,httproutes,backends.sluice.dev --all-namespaces
  show_command "$kubectl" get httproute models --namespace demo -o yaml
  show_command "$bin/sluice" status --admin 127.0.0.1:9921
  show_command "$bin/sluice" status --kubernetes --kubeconfig "$work/sluice-controller.kubeconfig"
  show_command "$kubectl" delete -k "$here"
  wait "${pids[@]}"
fi
