#!/bin/sh
# Makes Go compile less: client-go lists all groups of Kubernetes in some files, and kapi needs few of them. DIR gets copies
# that list those in their place, and overlay.json, with which `go build -overlay` sees the copies. LIBRARIES stays as it is.
# usage: lean.sh LIBRARIES DIR GROUP...     with the folder k8s.io, absolute, and the groups that kapi serves, such as apps/v1
set -eu

here=$(cd "$(dirname "$0")" && pwd)
libraries=$1 dir=$2
shift 2

# Groups of which kapi or the API server's libraries have clients.
clients="admissionregistration/v1 apiserverinternal/v1alpha1 authentication/v1 authorization/v1 core/v1 discovery/v1 events/v1 flowcontrol/v1 rbac/v1"

list() { # list GROUPS FILE...
    groups=$1
    shift
    for f; do
        mkdir -p "$dir/${f%/*}"
        awk -v groups="$groups" -f "$here/lean.awk" "$f" > "$dir/$f"
        echo "\"$PWD/$f\": \"$dir/$f\","
    done
}

mkdir -p "$dir"
cd "$libraries/client-go"
# Go does not see the last file at all: it is for tests of that library, and brings fake clients of all groups.
cat > "$dir/overlay.json" <<EOF
{"Replace": {
$(list "$clients" kubernetes/clientset.go informers/factory.go informers/generic.go informers/*/interface.go)
$(list "$clients $*" kubernetes/scheme/register.go scale/util.go)
"$libraries/apiserver/pkg/admission/plugin/policy/generic/policy_test_context.go": ""}}
EOF
