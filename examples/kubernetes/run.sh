#!/usr/bin/env bash
# The way out of a cluster, as its objects: applies them to the API server of the current kubeconfig, starts the gateway and the controller
# here with the rights of their ServiceAccounts, and an HTTPS origin; sends a request. The cluster needs Gateway API's CRDs.
# run.sh --keep leaves all running until Ctrl-C. SLUICE_PROGRAMS is the folder of the programs (build/release), KUBECTL the program kubectl.
set -euo pipefail
cd "$(dirname "$0")/../.."
example=kubernetes
source examples/run_example.sh
here=$PWD/examples/kubernetes
origin=$PWD/examples/quickstart/origin
crds=${SLUICE_CRDS:-$PWD/config/kustomize/crds}
kubectl=${KUBECTL:-kubectl}
url=http://127.0.0.1:10380/v1/models

# access NAME: writes a kubeconfig that has the rights of this ServiceAccount and no others.
access() {
  local cluster='jsonpath={.clusters[0].cluster'
  (
    umask 077
    cat >"$logs/$1.kubeconfig" <<END
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

need_ports 10380 10343 9921 9922 9923 9924
"$kubectl" get crd gateways.gateway.networking.k8s.io httproutes.gateway.networking.k8s.io >/dev/null ||
  fail "the CRDs of Gateway API are not installed; see https://gateway-api.sigs.k8s.io/guides/getting-started"

echo "1. The objects, with the rights of the gateway and of the controller"
show_command "$kubectl" apply --server-side -k "$crds"
"$kubectl" apply --server-side -k "$crds" >"$logs/crds.log" || fail "the CRDs of sluice.dev cannot be applied"
"$kubectl" wait --for=condition=Established --timeout=30s -f "$crds/backends.yaml" >>"$logs/crds.log"
show_command "$kubectl" apply --server-side -k "$here"
"$kubectl" apply --server-side -k "$here" | sed 's/^/      /'

echo "2. An origin outside, the controller, and the gateway"
start origin 10343 "$bin/sluice-echo" --listen 127.0.0.1:10343 --tls-cert "$origin/demo-only.crt" --tls-key "$origin/demo-only.key"
access sluice-controller
access sluice-gateway
start controller http://127.0.0.1:9924/readyz \
  "$bin/sluice" controller --kubeconfig "$logs/sluice-controller.kubeconfig" --admin 127.0.0.1:9923 --health 127.0.0.1:9924
start gateway http://127.0.0.1:9922/readyz \
  "$bin/sluice" run --kubernetes --kubeconfig "$logs/sluice-gateway.kubeconfig" --admin 127.0.0.1:9921 --health 127.0.0.1:9922
"$kubectl" wait --for=condition=Programmed --timeout=30s --namespace sluice-system gateway/egress | sed 's/^/      /'

echo "3. A request: plain HTTP and no key come in, verified TLS with the key goes out"
show_command curl -i "$url"
curl -sS --max-time 10 -o "$logs/answer" -w '   <- %{http_code}\n' "$url"
grep -oE '"(authorization: [^"]*|sni": *"[^"]*)"' "$logs/answer" | sed 's/^/      the origin saw: /' || true

if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command "$kubectl" get gatewayclasses,gateways,httproutes,backends.sluice.dev --all-namespaces
  show_command "$kubectl" get httproute models --namespace demo -o yaml
  show_command "$bin/sluice" status --admin 127.0.0.1:9921
  show_command "$bin/sluice" status --kubernetes --kubeconfig "$logs/sluice-controller.kubeconfig"
  show_command "$kubectl" delete -k "$here"
  wait "${pids[@]}"
fi
