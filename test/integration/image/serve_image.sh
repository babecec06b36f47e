#!/usr/bin/env bash
# Runs the gateway out of an unpacked image as a container would: the image is its root and read-only, it has a user and no rights, bounded
# memory and a network of its own; one request goes through it. Where this machine allows no namespaces, it is read-only by its permissions
# and uses the machine's loopback; where it allows no control groups, a resource limit bounds the memory. What was done is printed.
# As root: serve_image.sh ROOT, with the folder of sluice-echo in SLUICE_PROGRAMS.
set -euo pipefail
image=$(realpath "$1")
if [ "${2:-}" != here ] && unshare --net --mount true 2>/dev/null; then exec unshare --net --mount "$0" "$image" here; fi
cd "$(dirname "$0")/../../.."
example=serve_image
source examples/run_example.sh
memory_mib=128
capsh=$(PATH=$PATH:/usr/sbin:/sbin command -v capsh) || fail "capsh is missing: test/support/install.sh test"
group=''

leave() {
  stop
  if [ -n "$group" ]; then rmdir "$group"; fi
}
trap leave EXIT

# isolate: takes the network, and a view of the files, that this script has for itself.
isolate() {
  ip link set lo up
  root=$image.mounted
  mkdir -p "$root"
  mount --bind "$image" "$root"
  # A volume belongs to root and to the group of the user, as the kubelet makes it.
  install -d -m 2775 -g 65532 "$image.volume"
  mount --bind "$image.volume" "$root/var/lib/sluice"
  mount --bind "$image/etc/sluice" "$root/etc/sluice"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount -o remount,bind,ro "$root"
  mount -o remount,bind,ro "$root/etc/sluice"
}

# bound_memory: makes a control group with the limit, of either version, or none.
bound_memory() {
  local folder limit
  for folder in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    for limit in memory.limit_in_bytes memory.max; do
      if [ -e "$folder/cgroup.procs" ] && mkdir "$folder/sluice-image-$$" 2>/dev/null; then
        group=$folder/sluice-image-$$
        if echo $((memory_mib * 1024 * 1024)) 2>/dev/null >"$group/$limit"; then return; fi
        rmdir "$group"
        group=''
      fi
    done
  done
}

# confined ARGUMENT...: becomes the image's program. Its user has no capability and cannot get any.
confined() {
  if [ -n "$group" ]; then
    echo $BASHPID >"$group/cgroup.procs"
  else
    prlimit --pid $BASHPID --data=$((memory_mib * 1024 * 1024))
  fi
  exec env -i "$capsh" --chroot="$root" --drop=all --inh= --noamb --no-new-privs --groups= --gid=65532 --uid=65532 --shell=/usr/bin/sluice -- "$@"
}

of_status() { sed -n "s/^$1:\t*//p" "/proc/$gateway/status" | tr '\t' ' '; }

need_programs
cp examples/quickstart/*.yaml "$image/etc/sluice"
root=$image
if [ "${2:-}" = here ]; then
  isolate
  echo "root: mounted read-only; network: its own"
else
  echo "root: read-only by permissions; network: the machine's loopback, because namespaces are not allowed here"
fi
bound_memory
if [ -n "$group" ]; then
  echo "memory: $memory_mib MiB by $group"
else
  echo "memory: $memory_mib MiB of data by prlimit, because control groups are not writable here"
fi
need_ports 10080 10443 9901 9902
demo=examples/quickstart/origin/demo-only
start origin 10443 "$bin/sluice-echo" --listen 127.0.0.1:10443 --tls-cert "$demo.crt" --tls-key "$demo.key"
touch "$logs/started"
start gateway http://127.0.0.1:9902/readyz confined run --config /etc/sluice --state-dir /var/lib/sluice/state
gateway=${pids[-1]}
echo "user: $(of_status Uid)"
echo "group: $(of_status Gid)"
echo "capabilities: $(of_status CapEff) of $(of_status CapBnd)"
echo "no new privileges: $(of_status NoNewPrivs)"
echo "answer: $(curl -sS --max-time 10 -o "$logs/answer.json" -w '%{http_code}' http://127.0.0.1:10080/hello)"
echo "target: $(sed -n 's/.*"target": "\([^"]*\)".*/\1/p' "$logs/answer.json")"
echo "state: $( (confined status) | sed -n '1s/ since .*//p')"
echo "peak memory: $(of_status VmHWM)"
kill "$gateway"
ended=0
wait "$gateway" || ended=$?
echo "exit code: $ended"
echo "written: $(find "$image"*/var/lib/sluice/state -type f | wc -l) files of state"
echo "written elsewhere: $(find "$image" -newer "$logs/started" ! -path "$image/var/lib/sluice*" | tr '\n' ' ')"
