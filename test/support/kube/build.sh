#!/bin/sh
# Builds kapi, a Kubernetes API server for tests, from packages of Debian sid,
# on any Debian since 12. Everything stays in DIR; nothing is installed.
# usage: build.sh DIR     leaves DIR/bin/kapi and DIR/bin/kubectl
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: build.sh DIR}/bin"
dir=$(cd "$1" && pwd)

# Only one build at a time works in DIR.
exec 9> "$dir/lock"
flock 9

sum() { cat "$@" | sha256sum; }
fetched=$(sum "$here/packages")
built=$(sum "$here/packages" "$here/build.sh" "$here"/lean.* "$here"/src/*)
[ "$(cat "$dir/built" 2>/dev/null)" != "$built" ] || exit 0

if [ "$(cat "$dir/fetched" 2>/dev/null)" != "$fetched" ]; then
    # A private apt: it uses the machine's own mirror, but sid, and its lists, cache and locks are in DIR.
    # So it runs beside an apt-get that installs packages.
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' "Release: $codename" | head -n 1)
    [ -n "$mirror" ] || { echo "build.sh: apt's sources name no mirror of $codename" >&2; exit 1; }
    rm -rf "$dir/apt" "$dir/debs" "$dir/root"
    mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/none" "$dir/debs" "$dir/root"
    : > "$dir/apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" > "$dir/apt/sources.list"
    cat > "$dir/apt/apt.conf" <<EOF
Dir::Etc::sourcelist "$dir/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "$dir/apt/none";
Dir::State "$dir/apt";
Dir::State::status "$dir/apt/status";
Dir::Cache "$dir/apt/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
EOF
    export APT_CONFIG="$dir/apt/apt.conf"
    echo "fetching about 100 MB of packages" >&2
    apt-get -qq update
    go=$(apt-cache show golang-go | sed -n 's/^Depends:.*\(golang-[0-9.]*\)-go.*/\1/p' | head -n 1)
    cd "$dir/debs"
    # shellcheck disable=SC2046
    apt-get -qq download "$go-go" "$go-src" kubectl $(cat "$here/packages")
    for p in *.deb; do
        dpkg -x "$p" "$dir/root"
    done
    cp "$dir/root/usr/bin/kubectl" "$dir/bin/kubectl"
    echo "$fetched" > "$dir/fetched"
fi

rm -rf "$dir/gopath" "$dir/lean"
mkdir -p "$dir/gopath/src"
cp -r "$here/src" "$dir/gopath/src/kapi"
unset GOROOT
export PATH="$(echo "$dir/root/usr/lib"/go-*/bin):$PATH"
export GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 GOCACHE="$dir/cache" GOPATH="$dir/gopath:$dir/root/usr/share/gocode"
# One set of flags, so that kapi and openapi-gen share what they have in common. Nobody debugs them. Generated code is not inlined, and
# the compiler collects garbage rarely: each takes a quarter of its time.
export GOFLAGS="-trimpath -gcflags=all=-dwarf=false '-gcflags=k8s.io/api/...=-dwarf=false -l' '-gcflags=k8s.io/client-go/...=-dwarf=false -l'"
export GOGC=400

echo "generating the OpenAPI definitions" >&2
go build -o "$dir/bin/openapi-gen" k8s.io/kube-openapi/cmd/openapi-gen
cd "$dir/gopath/src/kapi"
mkdir openapi
: > "$dir/no-header"
kinds="admissionregistration/v1 apps/v1 authentication/v1 authorization/v1 autoscaling/v1 autoscaling/v2 \
    coordination/v1 core/v1 discovery/v1 events/v1 networking/v1 policy/v1 rbac/v1"
# shellcheck disable=SC2046,SC2086
"$dir/bin/openapi-gen" --output-dir openapi --output-pkg kapi/openapi --output-file generated.go \
    --go-header-file "$dir/no-header" --report-filename "$dir/openapi.report" \
    $(printf 'k8s.io/apimachinery/pkg/%s ' apis/meta/v1 runtime version util/intstr api/resource) \
    k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 $(printf 'k8s.io/api/%s ' $kinds)

echo "building kapi (about 1,200 Go packages)" >&2
minor=$(ls "$dir/debs" | sed -n 's/^golang-k8s-apiserver-dev_0\.\([0-9]*\)\.\([0-9]*\).*/\1.\2/p' | tail -n 1)
v=k8s.io/component-base/version
# A running kapi keeps its file, and a build that fails leaves the one of an earlier build.
compile() {
    go build -o "$dir/bin/kapi.new" -ldflags "-s -w -X $v.gitMajor=1 -X $v.gitMinor=${minor%.*} -X $v.gitVersion=v1.$minor" "$@" .
}
# shellcheck disable=SC2086
sh "$here/lean.sh" "$dir/root/usr/share/gocode/src/k8s.io" "$dir/lean" $kinds
if ! compile -overlay "$dir/lean/overlay.json"; then
    imports=$(go list -f '{{join .Imports " "}}' .)
    # shellcheck disable=SC2086
    ! go build -overlay "$dir/lean/overlay.json" $imports || exit 1 # The libraries are well: the fault is in src.
    echo "build.sh: lean.sh leaves out what sid's libraries need, so kapi is built with all of them" >&2
    compile
fi
mv "$dir/bin/kapi.new" "$dir/bin/kapi"
echo "$built" > "$dir/built"
