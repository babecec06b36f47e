# For the run scripts of the examples, which read it: starts programs, waits until they serve, and stops them at the end.
#
# The script sets `example`, its name. What the programs print is in the folder `logs`, which is removed at the end unless the script names it
# as `logs_kept_in`. `pids` are the programs that run.
source examples/show_command.sh
bin=$(realpath -m "${SLUICE_PROGRAMS:-build/release}")
logs=${logs_kept_in:-$(mktemp -d)}
pids=()

stop() {
  if [ ${#pids[@]} != 0 ]; then
    kill "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
  fi
  if [ -z "${logs_kept_in:-}" ]; then rm -rf "$logs"; fi
}
trap stop EXIT
trap 'exit 130' INT TERM

# fail MESSAGE [FILE]: prints the message, and the end of the file, and ends the example.
fail() {
  echo "$example: $1" >&2
  if [ -n "${2:-}" ] && [ -f "$2" ]; then tail -n 20 "$2" >&2; fi
  exit 1
}

# need_programs: fails if the programs were not built.
need_programs() {
  [ -x "$bin/sluice" ] && [ -x "$bin/sluice-echo" ] || fail "there is no $bin/sluice: examples/quickstart/run.sh builds it"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# need_ports PORT...: fails if one of them is in use.
need_ports() {
  local port
  for port in "$@"; do
    if listens "$port"; then fail "port $port of 127.0.0.1 is in use; this example needs it"; fi
  done
}

# serves CHECK: tells whether a port has a listener, or a URL answers; `curl_options` are further options of curl.
curl_options=()
serves() {
  case $1 in
    http*) curl -sf -o /dev/null --max-time 1 "${curl_options[@]}" "$1" ;;
    *) listens "$1" ;;
  esac
}

# start NAME CHECK COMMAND...: starts it and waits until it serves.
start() {
  local name=$1 check=$2
  shift 2
  "$@" >"$logs/$name.log" 2>"$logs/$name.err" &
  pids+=($!)
  for _ in $(seq 300); do
    if serves "$check"; then return; fi
    kill -0 "${pids[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  fail "$name did not start" "$logs/$name.err"
}
