#!/usr/bin/env bash
# Measures how long build and tests take, and checks bounds: perf/build.sh [cold] [warm] [hand], all of them by default.
# Packages are installed before the clock starts.
# Works on a fresh clone of HEAD below build/measure, with JOBS (2) at a time and without a compiler cache; a whole run takes about an
# hour. Prints the table of CONTRIBUTING.md and exits 1 if a bound is missed. Needs a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}
clone=$PWD/build/measure
log=$PWD/build/measure.log
rows=()
missed=0
# What is cold builds kapi (test/support/kube) too.
export SLUICE_KAPI_DIR=$PWD/build/measure_kapi
export CCACHE_DISABLE=1 JOBS=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs

fresh_clone() {
  rm -rf "$clone"
  git clone -q . "$clone"
  (cd "$clone" && test/support/install.sh build test >>"$log" 2>&1)
}

# measure BOUND WHAT COMMAND...: runs the command in the clone; BOUND is in seconds.
measure() {
  local bound=$1 what=$2 began took verdict=met
  shift 2
  printf '%s ...\n' "$what" >&2
  began=$(date +%s)
  if ! (cd "$clone" && "$@") >>"$log" 2>&1; then verdict="FAILED, see build/measure.log"; fi
  took=$(($(date +%s) - began))
  if [ "$verdict" = met ] && [ "$took" -ge "$bound" ]; then verdict=missed; fi
  if [ "$verdict" != met ]; then missed=1; fi
  rows+=("| $what | $took | $bound | $verdict |")
}

# change FILE: changes the file, so that the compiler sees a new one.
change() {
  echo "// Changed at $(date +%s%N)." >>"$clone/$1"
}

verdict_of() {
  cmake --build --preset dev --target "$1_test" && ctest --preset suite -R "^suite\.$1\."
}

everything() {
  cmake --build --preset dev && ctest --preset suite -R '^suite\.base\.'
}

cold() {
  fresh_clone
  measure 300 "cold: examples/quickstart/run.sh" examples/quickstart/run.sh
  fresh_clone
  rm -rf "$SLUICE_KAPI_DIR"
  measure 2400 "cold: .ci/run, with the first build of kapi" .ci/run
}

warm() {
  change proxy/exchange/attempt/attempts.cc
  measure 720 "warm: .ci/run after a change of proxy/exchange/attempt/attempts.cc" .ci/run
}

hand() {
  change proxy/http/hygiene.cc
  measure 40 "by hand: proxy/http/hygiene.cc to the verdict of its tests" verdict_of http
  change proxy/base/result.h
  measure 360 "by hand: proxy/base/result.h to the verdict of its tests" verdict_of base
  measure 900 "by hand: after that, everything else that includes it" everything
}

main() {
  local parts=("$@") part
  mkdir -p build
  : >"$log"
  if [ ${#parts[@]} = 0 ]; then parts=(cold warm hand); fi
  if [ "${parts[0]}" != cold ] && [ ! -d "$clone/build/dev" ]; then
    echo "build.sh: 'warm' and 'hand' go on where 'cold' ended; run that first" >&2
    return 2
  fi
  for part in "${parts[@]}"; do
    case $part in
      cold | warm | hand) "$part" ;;
      *) echo "build.sh: no part '$part' (there are: cold warm hand)" >&2; return 2 ;;
    esac
  done
  echo "| what, with $jobs jobs on $(nproc) cores | seconds | bound | |"
  echo "|---|---|---|---|"
  printf '%s\n' "${rows[@]}"
  return "$missed"
}

main "$@"
