#!/usr/bin/env bash
# Everything, on a bare Debian 12: installs what is missing, builds, runs every test; ends with ctest's summary of the whole suite.
# Exits 1 if any part failed. Build folders are kept, so a second run is quick. JOBS=n overrides the number of cores.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin"
jobs=${JOBS:-$(nproc)}
failed=()

step() { printf '\n== %s (%ss)\n' "$*" "$SECONDS"; }

step "packages and clients"
test/support/install.sh build test

step "release: the binaries that load tests and examples run"
cmake --preset release >/dev/null
cmake --build --preset release -j "$jobs" --target sluice sluice-echo

# Where valgrind runs: the budget is of user instructions, which do not depend on what else the machine does.
if command -v valgrind >/dev/null; then
  step "what a request may cost"
  perf/load.py --peers '' --scenarios S1,S2,S2b --repeats 0 --instructions --budget perf/budget.txt || failed+=("the budget")
fi

step "threads under ThreadSanitizer"
cmake --preset tsan >/dev/null
cmake --build --preset tsan -j "$jobs" --target threads_tests
ctest --preset tsan -j "$jobs" || failed+=("threads under ThreadSanitizer")

step "everything under AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset dev >/dev/null
cmake --build --preset dev -j "$jobs"
if [ ${#failed[@]} != 0 ]; then printf 'FAILED before: %s\n' "${failed[@]}"; fi
ctest --preset dev -j "$jobs" || failed+=("the suite")
[ ${#failed[@]} = 0 ]
