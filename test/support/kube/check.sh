#!/bin/bash
# Shows with kubectl and curl that kapi does what its README says.
# usage: check.sh DIR     where build.sh has built it
set -u
shopt -s lastpipe # expect counts, also at the end of a pipe
dir=$(cd "${1:?usage: check.sh DIR}" && pwd) && crds=$(cd "$(dirname "$0")/crds" && pwd)
work=$(mktemp -d) passed=0 failed=0 pid=
trap 'kill $pid 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT

start() { # start [kapi options]: sets pid, url and KUBECONFIG
    coproc KAPI { exec "$dir/bin/kapi" --data-dir "$work/data" "$@" 2>>"$work/log"; }
    pid=$KAPI_PID
    read -r -t 60 _ url KUBECONFIG <&"${KAPI[0]}" || { tail "$work/log"; exit 1; }
    export KUBECONFIG
}
stop() { kill "${1:--TERM}" "$pid"; wait "$pid" 2>/dev/null; }
k() { "$dir/bin/kubectl" --cache-dir "$work/cache" "$@" 2>&1; }
api() { curl -sS --cacert "$work/data/ca.crt" --cert "$work/data/admin.crt" --key "$work/data/admin.key" "$url$@"; }
as() { local token=$1; shift; KUBECONFIG=$work/bare k --server "$url" --certificate-authority "$work/data/ca.crt" --token "$token" "$@"; }
expect() { # expect WHAT PATTERN: the output on stdin matches
    local what=$1 pattern=$2 out
    out=$(cat)
    if grep -qE -- "$pattern" <<<"$out"; then passed=$((passed + 1)); echo "ok   $what"
    else failed=$((failed + 1)); echo "FAIL $what: want /$pattern/ in:"; head -n 8 <<<"$out"; fi
}

cat > "$work/tokens" <<'T'
t-admin,alice,1,"system:masters"
t-gw,system:serviceaccount:default:gw,2,"system:serviceaccounts"
T
: > "$work/bare"
start --authorization-mode RBAC --token-auth-file "$work/tokens" --etcd-compaction-interval 1s
port=${url##*:}
k version | expect "server version" 'Server Version: v1\.[0-9]+\.[0-9]+'
k get --raw '/readyz?verbose' | expect "readyz" 'readyz check passed'

# CRDs: schema, CEL, printer columns, status
k apply --server-side -f "$crds" | expect "CRDs applied" 'httproutes.gateway.networking.k8s.io serverside-applied'
k wait --for=condition=Established crd --all | grep -c 'condition met' | expect "CRDs established" '^8$'
cat > "$work/gw.yaml" <<'Y'
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: example.com/c}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec:
  gatewayClassName: c
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: g}]
  rules: [{backendRefs: [{name: svc, port: 80}]}]
Y
k apply -f "$work/gw.yaml" | expect "Gateway and HTTPRoute applied" 'httproute.*/r created'
k apply -f "$work/gw.yaml" >/dev/null # stores the defaults of status
was=$(k get gateway g -o jsonpath='{.metadata.resourceVersion}')
k apply -f "$work/gw.yaml" >/dev/null
k get gateway g -o jsonpath='{.metadata.resourceVersion}' | expect "applied again, nothing changes" "^$was$"
k get httproute r -o jsonpath='{.spec.rules[0].matches[0].path}' | expect "defaults of the CRD" 'PathPrefix'
sed 's/port: 80, /port: 70000, /' "$work/gw.yaml" | k apply -f - | expect "schema refuses" 'less than or equal to 65535'
sed 's/protocol: HTTP}/protocol: TCP, hostname: a.b}/' "$work/gw.yaml" | k apply -f - | expect "CEL refuses" 'hostname must not be specified'
sed 's/listeners:/listenersX:/' "$work/gw.yaml" | k apply -f - | expect "unknown field refused" 'unknown field "spec.listenersX"'
k patch gateway g --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Programmed","status":"True","reason":"Programmed","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],"addresses":[{"value":"10.0.0.1"}]}}' | expect "status patched" 'patched'
k patch gateway g --type=merge -p '{"status":{"addresses":[]}}' | expect "status untouched by the main resource" 'no change'
k get gateways | expect "printer columns" 'g +c +10.0.0.1 +True'
k explain gateway.spec.listeners.port | expect "OpenAPI" 'FIELD: port <integer>'
k explain deployment.spec.template.spec.containers.image | expect "OpenAPI of a built-in kind" 'FIELD: image <string>'
# Extensions go missing where Kubernetes and Go disagree about the JSON tags of a struct.
keys='"x-kubernetes-list-map-keys": *\[ *"'
api /openapi/v2 | expect "extensions in OpenAPI v2" "${keys}containerPort\""
api /openapi/v3/api/v1 | expect "extensions in OpenAPI v3" "${keys}containerPort\""
api /openapi/v3/apis/gateway.networking.k8s.io/v1 | expect "extensions of a CRD" "${keys}name\""

# apply, conflicts
k apply --server-side --field-manager=one -f - <<'Y' | expect "server-side apply" 'serverside-applied'
{apiVersion: v1, kind: ConfigMap, metadata: {name: ssa}, data: {a: "1"}}
Y
k apply --server-side --field-manager=two -f - <<'Y' | expect "ownership conflict" 'conflict with "one": .data.a'
{apiVersion: v1, kind: ConfigMap, metadata: {name: ssa}, data: {a: "2"}}
Y
k get cm ssa -o json | sed 's/"resourceVersion": ".*"/"resourceVersion": "1"/' | k replace -f - | expect "resourceVersion conflict" 'the object has been modified'

# built-in kinds
k apply -f - <<'Y' | expect "unknown field of a built-in kind refused" 'unknown field "dataX"'
{apiVersion: v1, kind: ConfigMap, metadata: {name: typo}, dataX: {a: "1"}}
Y
k create deployment d --image=nginx | expect "Deployment" created
k get deployment d -o jsonpath='{.spec.strategy.rollingUpdate.maxSurge} {.spec.template.spec.containers[0].imagePullPolicy} {.metadata.generation}' | expect "Deployment defaults" '^25% Always 1$'
k create service clusterip s --tcp=80:8080 | expect "Service" created
k get service s | expect "Service table" 's +ClusterIP +10\.[0-9.]+ +80'
k create secret generic x --type=kubernetes.io/tls --from-literal=a=b | expect "Secret of type tls needs its keys" 'tls.crt.*Required'
k apply -f - <<'Y' | expect "event of events.k8s.io" created
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: e, namespace: default}
eventTime: "2026-01-01T00:00:00.000000Z"
reportingController: example.com/c
reportingInstance: i
action: Bind
reason: Bound
type: Normal
regarding: {apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: g, namespace: default}
note: hello
Y
k get events --field-selector involvedObject.name=g | expect "seen as a core event" 'Normal +Bound +g +hello'
k create -n nowhere configmap c | expect "no such namespace" 'namespaces "nowhere" not found'
k create namespace gone >/dev/null && k create -n gone configmap c >/dev/null
k delete namespace gone --timeout=10s | expect "namespace emptied and deleted" 'deleted'
k apply -f - <<'Y' | expect "ValidatingAdmissionPolicy" 'created'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-bad}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name != 'bad'", message: not this name}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-bad}
spec: {policyName: no-bad, validationActions: [Deny]}
Y
for _ in 1 2 3 4 5; do refused=$(k create cm bad) && k delete cm bad >/dev/null && sleep 1 || break; done
expect "policy denies" 'not this name' <<<"$refused"

# who may do what
as t-none get cm | expect "unknown token" 'must be logged in|Unauthorized'
as t-admin get gateways | expect "token of an administrator" 'g +c'
as t-gw get gateways | expect "RBAC forbids" 'cannot list resource "gateways"'
k create role gw --verb=get,list,watch --resource=gateways.gateway.networking.k8s.io >/dev/null
k create rolebinding gw --role=gw --serviceaccount=default:gw >/dev/null
sleep 1
as t-gw get gateways | expect "RBAC allows" 'g +c'
as t-gw patch gateway g --subresource=status --type=merge -p '{"status":{"addresses":[]}}' | expect "but not to write status" 'cannot [a-z]+ resource "gateways/status"'
as t-gw auth can-i list gateways.gateway.networking.k8s.io | expect "SelfSubjectAccessReview" '^yes$'
k create -o jsonpath='{.status.user.username}' -f - <<'Y' | expect "TokenReview" 'system:serviceaccount:default:gw'
{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: t-gw}}
Y

k create serviceaccount probe | expect "ServiceAccount" created
token=$(k create token probe --audience=sluice --duration=1h)
k create -o jsonpath='{.status.user.username} {.status.audiences}' -f - <<Y | expect "its token is reviewed" 'system:serviceaccount:default:probe ."sluice"'
{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: $token, audiences: [sluice]}}
Y
as "$token" auth whoami | expect "and no good for the API itself" 'must be logged in|Unauthorized'
token=$(k create token probe --duration=4s)
as "$token" auth whoami | expect "a token for the API" 'system:serviceaccount:default:probe'
sleep 4
as "$token" auth whoami | expect "expires" 'must be logged in|Unauthorized'

# lists and watches
seq 1000 | awk '{printf "{apiVersion: v1, kind: ConfigMap, metadata: {name: n%d, labels: {bulk: \"1\"}}}\n---\n", $1}' > "$work/bulk.yaml"
k create -f "$work/bulk.yaml" | grep -c created | expect "1,000 objects created" '^1000$'
k get cm -l bulk --chunk-size=100 -v=8 2>&1 | grep -c 'configmaps?.*limit=100' | expect "listed in chunks" '[1-9]'
k get cm -l bulk --chunk-size=100 -o name | grep -c / | expect "1,000 objects listed" '^1000$'
next=$(api '/api/v1/configmaps?limit=10' | sed -n 's/.*"continue": *"\([^"]*\)".*/\1/p' | head -n 1)
for i in $(seq 40); do # the watch cache learns of a compaction within 15 s
    k annotate cm ssa "x=$i" --overwrite >/dev/null
    sleep 1
    api "/api/v1/configmaps?limit=10&continue=$next" > "$work/page"
    grep -q '"code": *410' "$work/page" && break
done
cat "$work/page" | expect "continue token expires: 410" '"code": *410'
now=$(api '/api/v1/configmaps?limit=1' | sed -n 's/.*"resourceVersion": *"\([0-9]*\)".*/\1/p' | head -n 1)
gw=/apis/gateway.networking.k8s.io/v1/gateways
timeout 3 curl -sN --cacert "$work/data/ca.crt" --cert "$work/data/admin.crt" --key "$work/data/admin.key" \
    "$url$gw?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" > "$work/watch"
expect "watch with initial events" '"type":"ADDED".*"name":"g"' < "$work/watch"
expect "bookmark ends them" '"type":"BOOKMARK".*initial-events-end' < "$work/watch"

# restart under a watch
k get gateways --watch -o name > "$work/follow" &
follow=$!
curl -sN --cacert "$work/data/ca.crt" --cert "$work/data/admin.crt" --key "$work/data/admin.key" "$url$gw?watch=1&resourceVersion=$now" > "$work/raw" &
raw=$!
sleep 1
k annotate gateway g seen=1 >/dev/null
stop
wait "$raw"; echo "exit $?" | expect "the watch ends with the server" 'exit (0|18|56|92)'
expect "having seen the change" '"type":"MODIFIED".*"seen":"1"' < "$work/raw"
kill "$follow" 2>/dev/null
start --listen "127.0.0.1:$port"
k get gateways | expect "same port, same state" 'g +c +10.0.0.1 +True'
api "$gw?watch=1&resourceVersion=1&timeoutSeconds=2" | expect "a watch from before: 410" '"code": *410'
stop -KILL
start
k get cm -l bulk -o name | grep -c / | expect "nothing lost by kill -9" '^1000$'
api '/apis' | expect "CRD groups in the plain /apis" 'gateway.networking.k8s.io'
stop
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
