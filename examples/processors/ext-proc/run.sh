#!/usr/bin/env bash
# A guard outside of the gateway (guard.py) that edits, refuses and routes requests: starts an origin that echoes requests, the guard and
# the gateway; sends requests with curl; stops all three. run.sh --keep leaves them running until Ctrl-C.
# SLUICE_PROGRAMS is the folder of the programs (build/release).
set -euo pipefail
cd "$(dirname "$0")/../../.."
example=ext-proc
source examples/run_example.sh
here=$PWD/examples/processors/ext-proc
url=http://127.0.0.1:10380/v1/completions
python=/usr/bin/python3  # Debian's, which has Debian's packages

# request BODY: sends a request, and prints the answer, or those parts of it that show what the origin got.
request() {
  show_command curl --json "$1" "$url"
  curl -sS --max-time 10 -o "$logs/answer" -w '   <- %{http_code}\n' --json "$1" "$url"
  if grep -q '"method"' "$logs/answer"; then
    grep -oE '"(x-guard|x-backend): [^"]*"|"body_start": "([^"\\]|\\.)*"' "$logs/answer" | sed 's/^/      the origin saw: /'
  else
    sed 's/^/      the guard says: /' "$logs/answer"
  fi
}

need_programs
"$python" -c 'import grpc, google.protobuf' 2>/dev/null && command -v protoc >/dev/null ||
  fail "guard.py needs packages: apt-get install --no-install-recommends python3-grpcio python3-protobuf protobuf-compiler"
need_ports 10380 10343 10303 10301 10302
protoc -I "$here" --python_out="$logs" ext_proc.proto
start origin 10343 "$bin/sluice-echo" --listen 127.0.0.1:10343
start guard 10303 env PYTHONPATH="$logs" "$python" "$here/guard.py" 10303
start gateway http://127.0.0.1:10302/readyz "$bin/sluice" run --config "$here" --admin 127.0.0.1:10301 --health 127.0.0.1:10302

echo "1. It edits: the Backend learns that it was there, and addresses are masked"
request '{"prompt": "Write to ann@example.test"}'
echo "2. It refuses"
request '{"prompt": "My key is sk-1234567890"}'
echo "3. It routes: another rule has the Backend for what is confidential, and the body stays as it is"
request '{"prompt": "Write to ann@example.test", "confidential": true}'
echo "Look next at examples/processors/ext-proc/guard.py."
if [ "${1:-}" = --keep ]; then
  echo "Running until Ctrl-C. From another shell:"
  show_command curl --json '{"prompt": "Write to bob@example.test"}' "$url"
  show_command "$bin/sluice" status --admin 127.0.0.1:10301
  wait "${pids[@]}"
fi
