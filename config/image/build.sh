#!/usr/bin/env bash
# Builds the container image of Sluice from Debian 12's packages and the release binary. --help says more.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC
project=$(realpath "$(dirname "$0")/../..")
max_bytes=60000000

usage() {
  cat <<'END'
build.sh [OPTION]...: builds the container image of Sluice: an OCI layout as a tar archive, and beside it the SPDX list of its packages.

  --output FILE      the archive (build/image/sluice.tar); the list is FILE with .spdx.json in place of .tar
  --binary FILE      the program (build/release/sluice)
  --tree FOLDER      makes the files of the image in FOLDER, which must be missing or empty, and no archive
  --cache FOLDER     keeps the lists of packages and the packages there for the next time
  --no-update        takes the packages that the lists in the cache name, and asks for no newer lists
  --source URL       where the source is, for the label org.opencontainers.image.source; no such label without it
  --help             prints this

It needs Debian 12 and umoci, but neither root, namespaces and mounts nor a registry. Packages come from the machine's own sources, those of
Debian 12 alone, in their newest version. The same packages and the same program give the same digest. The image's date is
SOURCE_DATE_EPOCH, or that of the newest file of the packages.

    skopeo copy oci-archive:build/image/sluice.tar docker://REGISTRY/sluice:TAG     # or: podman load -i build/image/sluice.tar
END
}

say() { echo "image: $*"; }

# fail MESSAGE...: prints what is wrong and what to do, and ends the build.
fail() {
  printf '%s\n' "$@" | sed 's/^/image: /' >&2
  exit 1
}

# wrong_usage MESSAGE: the command line is wrong.
wrong_usage() {
  echo "image: $1 (--help lists the options)" >&2
  exit 2
}

output=$project/build/image/sluice.tar binary=$project/build/release/sluice tree='' cache='' update=yes source_url=''
while [ $# != 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --no-update) update=no; shift; continue ;;
    --output | --binary | --tree | --cache | --source) [ -n "${2:-}" ] || wrong_usage "$1 needs a value" ;;
    *) wrong_usage "there is no option '$1'" ;;
  esac
  case $1 in
    --output) output=$(realpath -m "$2") ;;
    --binary) binary=$(realpath -m "$2") ;;
    --tree) tree=$(realpath -m "$2") ;;
    --cache) cache=$(realpath -m "$2") ;;
    --source) source_url=$2 ;;
  esac
  shift 2
done
[[ $output == *.tar ]] || wrong_usage "the name of --output must end with .tar"
[ "$update" = yes ] || [ -n "$cache" ] || wrong_usage "--no-update needs --cache"

check_machine() {
  local missing=() pair
  local needs=(python3=python3 dpkg-deb=dpkg tar=tar ldd=libc-bin)
  if [ -z "$tree" ]; then needs+=(umoci=umoci); fi
  . /etc/os-release
  [ "${ID:-}:${VERSION_CODENAME:-}" = debian:bookworm ] ||
    fail "the image is made of the packages of Debian 12, with which the program was built; this is ${PRETTY_NAME:-another system}"
  for pair in "${needs[@]}"; do command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}"); done
  [ ${#missing[@]} = 0 ] || fail "tools are missing: apt-get install --no-install-recommends ${missing[*]}"
  [ -x "$binary" ] || fail "there is no program $binary; build it:" \
    "  cmake --preset release && cmake --build --preset release --target sluice"
  if [ -n "$tree" ] && [ -n "$(ls -A "$tree" 2>/dev/null)" ]; then fail "the folder $tree is not empty"; fi
}

# Prints the path of each shared library of the program, the dynamic linker included, as the linker names it.
libraries() {
  ldd "$binary" | awk '/not found/ { print "missing:" $1 } $2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/" { print $1 }' | sort -u
}

# Prints the packages of the image: those of the libraries, the authorities that are trusted, what names the system, and the licence of GCC's
# libraries, to which their own packages lead. Packages name some files below /usr and some not, as they were before both were one folder.
packages() {
  local path owners candidates=() owner
  for path in $linked; do
    [[ $path != missing:* ]] || fail "the library ${path#missing:} of $binary is not installed: test/support/install.sh build"
    candidates+=("${path#/usr}" "/usr${path#/usr}")
  done
  owners=$(dpkg-query -S "${candidates[@]}" 2>/dev/null || true)
  {
    printf '%s\n' base-files ca-certificates gcc-12-base
    for path in $linked; do
      owner=$(awk -v path="${path#/usr}" '$NF == path || $NF == "/usr" path { sub("[:,].*", ""); print; exit }' <<<"$owners")
      [ -n "$owner" ] || fail "no package of this machine has $path, which $binary needs"
      echo "$owner"
    done
  } | sort -u
}

# Downloads packages, by a configuration of apt that is this build's own and knows nothing of what is installed here. It follows the
# machine's sources, as far as they are Debian 12.
download() {
  local folder=$cache suite
  mkdir -p "$folder"/{lists/partial,archives/partial,packages}
  : >"$folder/status"
  for suite in bookworm bookworm-security bookworm-updates; do
    printf 'Package: *\nPin: release o=Debian, n=%s\nPin-Priority: 500\n\n' "$suite"
  done >"$folder/preferences"
  printf 'Package: *\nPin: release *\nPin-Priority: -1\n' >>"$folder/preferences"
  local options=(-q -o "Dir::State=$folder" -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder" -o APT::Default-Release=
                 -o "Dir::Etc::Preferences=$folder/preferences" -o Dir::Etc::PreferencesParts=/dev/null -o Acquire::Languages=none)
  if [ "$(id -u)" = 0 ]; then options+=(-o APT::Sandbox::User=root); fi
  if [ "$update" = yes ]; then
    say "reading the lists of packages"
    apt-get "${options[@]}" update >"$work/apt.log" 2>&1 || fail "apt-get update failed:" "$(tail -n 5 "$work/apt.log")"
  fi
  # Without a network, apt goes on with the lists that it has.
  (cd "$folder/packages" && apt-get "${options[@]}" download "$@") >>"$work/apt.log" 2>&1 ||
    fail "packages cannot be downloaded:" "$(grep '^[EW]:' "$work/apt.log" | head -n 5)" \
      "The machine's sources must have Debian 12, and be reachable: apt-get update"
  apt-cache "${options[@]}" show --no-all-versions "$@" | awk '
    /^Package: / { name = $2 } /^Version: / { version = $2 } /^Architecture: / { architecture = $2 }
    /^$/ { if (name != "") { gsub(":", "%3a", version); print name, name "_" version "_" architecture ".deb"; name = "" } }
    END { if (name != "") { gsub(":", "%3a", version); print name, name "_" version "_" architecture ".deb" } }' | sort >"$work/files"
  # The cache keeps no versions that have been replaced.
  (cd "$folder/packages" && comm -23 <(ls | sort) <(cut -d' ' -f2 "$work/files" | sort) | xargs -r rm -f)
}

# take PACKAGE ARCHIVE: puts into the tree what a running gateway needs of a package, with its licence, its entry for scanners of images
# and the checksums of its files. No script of a package runs.
take() {
  local package=$1 archive=$2 unpacked=$work/unpacked records=$root/var/lib/dpkg/status.d
  dpkg-deb -x "$archive" "$unpacked"
  (cd "$unpacked" && find . ! -type d ! -path '*/gconv/*' ! -path './usr/share/doc/*/*/*' '(' -path './lib*/*.so*' -o -path './usr/lib/*.so*' \
    -o -path './usr/lib/os-release' -o -path './etc/os-release' -o -path './etc/debian_version' -o -path './usr/share/common-licenses/*' \
    -o -path './usr/share/ca-certificates/*' -o -path './usr/share/doc/*/copyright' -o -type l -path './usr/share/doc/*' ! -path './usr/share/doc/*/*' \
    ')' -print0 | tar -c --null --no-recursion -T -) | tar -x --keep-directory-symlink -C "$root"
  dpkg-deb -f "$archive" >"$records/$package"
  dpkg-deb --ctrl-tarfile "$archive" | tar -xO ./md5sums | while read -r sum path; do
    if [ -f "$root/$path" ]; then echo "$sum  $path"; fi
  done >"$records/$package.md5sums"
  (cd "$root" && md5sum --quiet --strict -c "$records/$package.md5sums") || fail "files of $archive are damaged; remove it and try again"
  rm -rf "$unpacked"
}

# Makes the files that belong to no package.
add_own_files() {
  local certificate
  install -m 755 "$binary" "$root/usr/bin/sluice"
  install -d "$root"/{dev,proc,sys,etc/sluice,etc/ssl/certs,usr/lib/ssl,usr/share/doc/sluice}
  install -d -m 700 "$root/var/lib/sluice"
  install -m 644 "$project/LICENSE" "$root/usr/share/doc/sluice/copyright"
  printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'sluice:x:65532:65532:sluice:/:/sbin/nologin' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'sluice:x:65532:' >"$root/etc/group"
  printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >"$root/etc/nsswitch.conf"
  find "$root/usr/share/ca-certificates" -name '*.crt' | sort | while read -r certificate; do
    sed '$a\' "$certificate"
  done >"$root/etc/ssl/certs/ca-certificates.crt"
  ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
}

make_tree() {
  local folder package archive path loader list=$root/usr/share/doc/sluice/sbom.spdx.json
  install -d "$root" "$root"/usr/{bin,sbin,lib,lib64} "$root/var/lib/dpkg/status.d"
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
  while read -r package archive; do take "$package" "$cache/packages/$archive"; done <"$work/files"
  epoch=${SOURCE_DATE_EPOCH:-$(find "$root/usr" -type f -printf '%T@\n' | sort -n | tail -n 1 | cut -d. -f1)}
  add_own_files
  for path in $linked; do [ -e "$root$path" ] || fail "$path, which $binary needs, is in none of the packages"; done
  loader=$(printf '%s\n' $linked | grep '/ld-linux')
  "$root$loader" --inhibit-cache --library-path "$root$(dirname "$(printf '%s\n' $linked | grep '/libc\.so')")" "$root/usr/bin/sluice" \
    version -o json >"$work/version.json" || fail "the program does not run with the libraries of the image"
  (cd "$cache/packages" && cut -d' ' -f2 "$work/files" | xargs sha256sum) >"$work/checksums"
  "$project/config/image/sbom.py" --records "$root/var/lib/dpkg/status.d" --checksums "$work/checksums" --version "$work/version.json" \
    --epoch "$epoch" >"$list"
}

# Packs the tree as a layer: sorted, with dates that follow from the packages. All files are root's, but for the folder of the state.
pack_layer() {
  local options=(--format=gnu --sort=name --numeric-owner --mtime="@$epoch" --clamp-mtime -C "$root")
  tar -cf "$work/layer.tar" "${options[@]}" --owner=0 --group=0 --exclude=./var/lib/sluice .
  tar -rf "$work/layer.tar" "${options[@]}" --owner=65532 --group=65532 ./var/lib/sluice
}

version_member() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/version.json" "$1"; }

make_image() {
  local layout=$work/layout version date labels=() label
  version=$(version_member version)
  date=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
  labels=(title=Sluice "description=An egress gateway for Kubernetes" "version=$version" "revision=$(version_member commit)"
          licenses=Apache-2.0 ${source_url:+"source=$source_url"})
  local config=(--created "$date" --os linux --architecture "$(dpkg --print-architecture)" --config.user 65532:65532
                --config.entrypoint /usr/bin/sluice --config.workingdir / --config.exposedports 9902/tcp --config.stopsignal SIGTERM)
  for label in "${labels[@]}"; do config+=(--config.label "org.opencontainers.image.$label"); done
  {
    umoci init --layout "$layout"
    umoci new --image "$layout:$version"
    umoci raw add-layer --image "$layout:$version" --history.created "$date" --history.created_by config/image/build.sh "$work/layer.tar"
    umoci config --image "$layout:$version" --no-history "${config[@]}"
    umoci gc --layout "$layout"
  } >"$work/umoci.log" 2>&1 || fail "umoci failed:" "$(tail -n 5 "$work/umoci.log")"
  mkdir -p "$(dirname "$output")"
  tar -cf "$work/image.tar" --format=gnu --mode=a+rX --sort=name --numeric-owner --owner=0 --group=0 --mtime="@$epoch" -C "$layout" .
  local bytes
  bytes=$(stat -c %s "$work/image.tar")
  [ "$bytes" -lt "$max_bytes" ] || fail "the image has $bytes bytes; $max_bytes are allowed"
  mv "$work/image.tar" "$output"
  install -m 644 "$root/usr/share/doc/sluice/sbom.spdx.json" "${output%.tar}.spdx.json"
  say "$output: sluice $version, $((bytes / 1000)) kB"
  say "digest $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["manifests"][0]["digest"])' "$layout/index.json")"
}

check_machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=${cache:-$work/cache}
root=$work/tree
linked=$(libraries)
chosen=$(packages)
say "$(wc -w <<<"$chosen") packages for $(wc -w <<<"$linked") libraries of $binary"
download $chosen
say "putting the files together"
make_tree
if [ -n "$tree" ]; then
  if [ "$(id -u)" = 0 ]; then chown 65532:65532 "$root/var/lib/sluice"; fi
  find "$root" -newermt "@$epoch" -exec touch -h -d "@$epoch" {} +
  mkdir -p "$tree"
  cp -a "$root/." "$tree"
  say "$tree: $(du -sh "$tree" | cut -f1), with $(wc -l <"$work/files") packages of Debian"
  exit 0
fi
say "packing the image"
pack_layer
make_image
