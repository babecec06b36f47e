#!/usr/bin/env bash
# Installs the packages that this project needs from Debian 12, by group: install.sh [--packages] [build] [test] [fuzz] [lint]; all of them by
# default. Needs root or sudo, and only if a package is missing. Changes no source list of the system. With --packages it leaves out what
# tests have below this folder, which takes no root: cases of Debian 13 and clients of npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

declare -A packages=(
  [build]="g++ cmake ninja-build ccache pkg-config ca-certificates curl openssl
           libuv1-dev libnghttp2-dev libssl-dev libc-ares-dev libyaml-cpp-dev libspdlog-dev libre2-dev liblua5.4-dev libcli11-dev
           zlib1g-dev libbrotli-dev libzstd-dev libxxhash-dev libcrypt-dev libprotobuf-dev protobuf-compiler"
  [test]="libgtest-dev libgmock-dev libbenchmark-dev curl openssl nghttp2-client nghttp2-server dnsmasq-base netcat-openbsd
          universal-ctags clang-format mold procps time valgrind python3 python3-grpcio python3-protobuf
          python3-requests wget git zsh fish groff-base umoci libcap2-bin iproute2 chromium"
  [fuzz]="clang libclang-rt-14-dev llvm-14"
  [lint]="clang-tidy"
)
# If several packages provide a command, any of them is enough.
declare -A commands=(
  [build]=""
  [test]="nginx=nginx-light node=nodejs npm=npm promtool=prometheus gnuplot=gnuplot-nox"
  [fuzz]=""
  [lint]=""
)

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Daemons that come with a package stay off: the tests start their own, on loopback.
apt_install() {
  local policy=/usr/sbin/policy-rc.d placed=no status=0
  echo "install.sh: installing $*"
  as_root apt-get update -qq
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    placed=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >build/install.log 2>&1 || status=$?
  if [ "$placed" = yes ]; then as_root rm -f "$policy"; fi
  if [ "$status" != 0 ]; then
    tail -n 30 build/install.log >&2
    return "$status"
  fi
  if [ -d /run/systemd/system ] && [[ " $* " == *" nginx-light "* ]]; then as_root systemctl -q disable nginx || true; fi
}

# Prints the machine's Debian mirror as "URI|keyring", from source lists of either format. The keyring may be empty.
own_mirror() {
  local release=$1 uri keyring
  uri=$(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Identifier: Packages' |
        awk -F'|' -v r="$release" '$2 == r && $3 == "main" && !found++ { print $1 }')
  keyring=$({ cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null || true; } |
            awk -v RS= -v r="$release" '!found && $0 ~ "(^|[ \n])" r "([ \n]|$)" && match($0, /[Ss]igned-[Bb]y[:=] *\/[^] \n]+/) {
              found = 1; print substr($0, RSTART, RLENGTH) }' | sed 's|^[^/]*||')
  echo "$uri|$keyring"
}

# Unpacks packages of Debian 13, named PACKAGE=FOLDER, into folders below build/third_party. They are taken from the machine's own mirror by
# a private apt configuration, and nothing of them is installed.
unpack_of_debian_13() {
  local private=$PWD/build/third_party/apt mirror keyring pair
  IFS='|' read -r mirror keyring < <(own_mirror "$(. /etc/os-release && echo "$VERSION_CODENAME")")
  if [ -z "$mirror" ]; then
    echo "install.sh: found no Debian mirror in the source lists of this machine" >&2
    return 1
  fi
  rm -rf "$private"
  mkdir -p "$private"/{state/lists/partial,cache/archives/partial,download}
  echo "deb ${keyring:+[signed-by=$keyring] }$mirror trixie main" >"$private/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$private/sources.list" -o Dir::Etc::SourceParts=/dev/null
             -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null -o APT::Default-Release=
             -o "Dir::State=$private/state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$private/cache"
             -o Acquire::Languages=none)
  if [ "$(id -u)" = 0 ]; then apt+=(-o APT::Sandbox::User=root); fi
  "${apt[@]}" update
  for pair in "$@"; do
    local package=${pair%%=*} target=build/third_party/${pair#*=}
    echo "install.sh: fetching $package of Debian 13"
    rm -rf "$target"
    (cd "$private/download" && "${apt[@]}" download "$package")
    dpkg-deb -x "$private/download/$package"_*.deb "$target"
  done
  rm -rf "$private"
}

# The cases of JSON-Schema-Test-Suite that come with a Perl module, which is not used itself.
fetch_of_debian_13() {
  if [[ " $* " == *" test "* && ! -d build/third_party/json-schema-suite/usr ]]; then
    unpack_of_debian_13 libtest-json-schema-acceptance-perl=json-schema-suite
  fi
}

# Installs the npm packages in the versions that package-lock.json names.
fetch_clients() {
  local clients=test/integration/clients
  if [ "$clients/node_modules/.package-lock.json" -nt "$clients/package-lock.json" ]; then return; fi
  echo "install.sh: installing the Node.js clients of the integration tests"
  npm ci --prefix "$clients" --ignore-scripts --no-audit --no-fund --silent
}

main() {
  local packages_only=no groups missing=() group package pair
  if [ "${1:-}" = --packages ]; then
    packages_only=yes
    shift
  fi
  groups=("$@")
  if [ ${#groups[@]} = 0 ]; then groups=(build test fuzz lint); fi
  export PATH="$PATH:/usr/sbin:/sbin"
  mkdir -p build
  for group in "${groups[@]}"; do
    if [ -z "${packages[$group]:-}" ]; then
      echo "install.sh: no group '$group' (there are: build test fuzz lint)" >&2
      return 2
    fi
    for package in ${packages[$group]}; do installed "$package" || missing+=("$package"); done
    for pair in ${commands[$group]}; do
      command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
  done
  if [ ${#missing[@]} != 0 ]; then apt_install "${missing[@]}"; fi
  if [ "$packages_only" = yes ]; then return; fi
  fetch_of_debian_13 "${groups[@]}"
  if [[ " ${groups[*]} " == *" test "* ]]; then fetch_clients; fi
}

main "$@"
