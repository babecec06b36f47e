#!/usr/bin/env bash
# Everything, on a bare Debian 12: installs what is missing, builds, runs every test; ends with the seconds of each step and a summary
# of the whole suite. Exits 1 if any part failed. Build folders are kept, so a second run is quick. JOBS=n overrides the number of cores.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin"
jobs=${JOBS:-$(nproc)}
kapi_folder=${SLUICE_KAPI_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice/kapi}
failed=()
steps=()
declare -A besides
not_run=()

# step NAME COMMAND...: runs it and notes its seconds; a step that fails does not keep the later ones from running.
step() {
  local name=$1 since=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
  steps+=("$(printf '%6d s  %s' $((SECONDS - since)) "$name")")
}

# Without a build there is nothing to test: what fails here ends the run.
build() {
  local preset=$1
  shift
  if ! cmake --preset "$preset" >/dev/null || ! cmake --build --preset "$preset" -j "$jobs" "$@"; then
    echo "run.sh: the build of $preset failed" >&2
    exit 1
  fi
}

# Where valgrind runs: the budget is of user instructions, which do not depend on what else the machine does.
budget() {
  if command -v valgrind >/dev/null; then
    perf/load.py --peers '' --scenarios S1,S2,S2b --repeats 0 --instructions --budget perf/budget.txt
  else
    not_run+=("what a request may cost: valgrind is not installed")
  fi
}

# beside NICENESS LOG COMMAND...: runs the command in the time that everything else leaves of the machine. It has a process group of its own,
# which ends with this script; $! is its number. It has no session of its own: the kernel shares the machine between sessions first, whatever
# their niceness is.
beside() {
  local niceness=$1 log=$2
  shift 2
  set -m
  nice -n "$niceness" "$@" >"$log" 2>&1 &
  set +m
  besides[$!]=1
}
# await NUMBER: waits for such a command, and returns its exit status.
await() {
  local status=0
  wait "$1" || status=$?
  unset "besides[$1]"
  return "$status"
}
end_besides() {
  local each
  for each in "${!besides[@]}"; do kill -- -"$each" 2>/dev/null || kill "$each" 2>/dev/null || true; done
}
trap end_besides EXIT

begin_kapi() {
  mkdir -p build
  SLUICE_KAPI_DIR=$kapi_folder
  export SLUICE_KAPI_DIR
  beside 15 build/kapi.log sh test/support/kube/build.sh "$kapi_folder"
  kapi_build=$!
}

# It comes from a Debian that moves, so a build that fails is no failure of this project: its tests are skipped then.
await_kapi() {
  if await "$kapi_build"; then return; fi
  kapi_missing="kapi, the Kubernetes API server of the tests, was not built (build/kapi.log)"
  printf '\nWARNING: %s. The log ends with:\n' "$kapi_missing"
  tail -n 20 build/kapi.log
  if [ -x "$kapi_folder/bin/kapi" ]; then
    kapi_missing+=": its tests run against an earlier build"
  else
    kapi_missing+=": its tests are skipped"
  fi
  printf '%s\n\n' "$kapi_missing"
}

# It waits for the network, and only tests need it.
begin_clients() {
  beside 0 build/clients.log test/support/install.sh build test
  clients=$!
}
# Tests wait for timers and peers, and leave a part of the machine, above all those that run alone at the end: enough for this.
begin_headers() {
  beside 19 build/headers.log test/support/suite/headers_alone.py --build build/dev --jobs "$jobs"
  headers=$!
}
# await_told NUMBER LOG: awaits it and shows its log.
await_told() {
  local status=0
  await "$1" || status=$?
  cat "$2"
  return "$status"
}

# ctest's own summary counts a binary's shard as one test, so it is left out here and made over all tests instead. Tests wait for timers and
# for their peers, so there are three times as many of them as cores; those that compute take two places.
suite() {
  rm -rf build/dev/reports build/dev/ctest.xml build/dev/attacks.txt build/dev/cpu.txt
  SLUICE_ATTACK_TABLE="$PWD/build/dev/attacks.txt" \
    ctest --preset suite -j $((3 * jobs)) --output-junit "$PWD/build/dev/ctest.xml" | grep -v '^[0-9]*% tests passed' || true
}

begin_kapi
step "packages" test/support/install.sh --packages build test
begin_clients
step "release: build of the binaries that load tests and examples run" build release --target sluice sluice-echo library_reference
step "what a request may cost" budget
step "threads under ThreadSanitizer: build" build tsan
step "threads under ThreadSanitizer: tests" ctest --preset tsan -j "$jobs" --output-junit "$PWD/build/tsan/ctest.xml"
step "under AddressSanitizer and UndefinedBehaviorSanitizer: build" build dev
step "the rest of kapi's build" await_kapi
step "the rest of the clients' installation" await_told "$clients" build/clients.log
begin_headers
step "under AddressSanitizer and UndefinedBehaviorSanitizer: tests" suite
step "each header by itself: what the tests left of it" await_told "$headers" build/headers.log
printf '\nWhat the victims of attacks felt:\n'
cat build/dev/attacks.txt || failed+=("the table of attacks")
printf '\nSeconds of each step, %d jobs:\n' "$jobs"
printf '%s\n' "${steps[@]}"
if [ -n "${kapi_missing:-}" ]; then printf 'WARNING: %s\n' "$kapi_missing"; fi
summary=(--reports build/dev/reports --out build/dev/tests.tsv)
for junit in build/dev/ctest.xml build/tsan/ctest.xml; do summary+=(--junit "$junit"); done
for each in "${not_run[@]}"; do summary+=(--not-run "$each"); done
if [ -f build/dev/cpu.txt ]; then summary+=(--cpu build/dev/cpu.txt); fi
test/support/suite/summary.py "${summary[@]}" || failed+=("the suite")
if [ ${#failed[@]} != 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
