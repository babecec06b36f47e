#!/usr/bin/env bash
# Runs a command in a network of its own, whose only way out swallows everything, as a policy that drops does. Names have no server there.
#   closed_network.sh SETUP COMMAND...    SETUP is run first, for what shall be different; it may be empty
# What SETUP starts ends with the command. As root; it ends with 77 where this machine allows no namespaces.
set -euo pipefail
spaces=(unshare --net --mount --pid --fork --kill-child --mount-proc)
if [ "${SLUICE_CLOSED_NETWORK:-}" != inside ]; then
  "${spaces[@]}" true 2>/dev/null || exit 77
  SLUICE_CLOSED_NETWORK=inside exec "${spaces[@]}" "$0" "$@"
fi
PATH=$PATH:/usr/sbin:/sbin

# listen PORT: takes connections to all addresses of this network.
listen() {
  nc -lk "$1" >/dev/null 2>&1 &
  until ss -Hltn "sport = $1" | grep -q .; do :; done
}

# add_router: puts a router behind the way out, and defines `router`, which runs a command on it.
add_router() {
  unshare --net sleep infinity &
  local process=$!
  until [ "$(readlink "/proc/$process/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
  eval "router() { nsenter --net --target $process \"\$@\"; }"
  ip link set far netns "$process"
  router ip link set lo up
  router ip addr add 10.9.0.1/24 dev far
  router ip link set far up
  router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  ip neigh del 10.9.0.1 dev out
}

ip link set lo up
ip link add out type veth peer name far
ip addr add 10.9.0.2/24 dev out
ip link set out up
ip link set far up
ip neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev out
ip route add default via 10.9.0.1
names=$(mktemp)
echo 'nameserver 10.9.0.1' >"$names"
mount --bind "$names" /etc/resolv.conf
rm "$names"
eval "$1"
shift
exec "$@"
