#!/usr/bin/env python3
"""Measures what forward proxies cost: Sluice beside Squid, Apache, tinyproxy and HAProxy on this machine, in one run. See README.md.

Everything listens on 127.0.0.1, on ports from the kernel, works in a temporary folder, and ends with the script. Needs dnsmasq, and nginx
for requests; peers that are not installed are left out.
"""
import argparse
import collections
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import tunnel_load
from forward_peers import PEERS
from load import free_port, wait_for
from tunnel_load import Target

HERE = os.path.dirname(os.path.abspath(__file__))
PROXIES = ["squid", "apache", "tinyproxy"]
AT_ONCE = 64  # tunnels that are being opened, and connections with requests
STREAMS, STREAM_BYTES = 8, 64 << 20  # through as many tunnels at the same time
HELLO = tunnel_load.client_hello("origin.test")

NGINX = """
daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/nginx.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; client_body_temp_path {dir}/t; proxy_temp_path {dir}/t;
  fastcgi_temp_path {dir}/t; uwsgi_temp_path {dir}/t; scgi_temp_path {dir}/t;
  server {{ listen 127.0.0.1:{http}; location / {{ return 200 "{small}"; }} }}
}}
"""


class Measure(typing.NamedTuple):
    title: str
    peers: list
    unit: str  # what the CPU is counted for


MEASURES = {
    "open": Measure("tunnels that are opened, carry a ClientHello and 100 bytes, and are closed", PROXIES, "tunnel"),
    "down": Measure(f"{STREAM_BYTES >> 20} MiB to the client through each of {STREAMS} tunnels", [*PROXIES, "haproxy", "haproxy, splice"], "MiB"),
    "up": Measure("the same from the client", [*PROXIES, "haproxy", "haproxy, splice"], "MiB"),
    "requests": Measure("requests in absolute-form, HTTP/1.1 without TLS on both sides, 100 bytes", ["squid", "apache", "haproxy, do-resolve"],
                        "request"),
    "idle": Measure("memory of tunnels that are open and idle", PROXIES, "tunnel"),
}


def tree_of(pid):
    """Returns a process and all that descend from it."""
    children = collections.defaultdict(list)
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                children[int(file.read().rpartition(")")[2].split()[1])].append(int(name))
        except OSError:
            pass  # it has ended
    found = [pid]
    for each in found:
        found += children[each]
    return found


def cpu_seconds(pid):
    """Returns the CPU time of a tree of processes, with the threads and the children that have ended."""
    total = 0
    for each in tree_of(pid):
        total += time.clock_gettime((~each << 3) | 2)  # all threads of the process, in nanoseconds: clock_getcpuclockid(3)
        with open(f"/proc/{each}/stat", encoding="utf-8") as file:
            ended = file.read().rpartition(")")[2].split()[13:15]
        total += sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")
    return total


def memory_kib(pid):
    """Returns the memory of a tree of processes; a page that several of them share counts once."""
    total = 0
    for each in tree_of(pid):
        with open(f"/proc/{each}/smaps_rollup", encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return total


class Bench:
    """Owns the origins, the name server and a folder during one run."""

    def __init__(self, options):
        self.options = options
        self.dir = tempfile.mkdtemp(prefix="tunnels-")
        os.chmod(self.dir, 0o777)  # Squid and Apache become other users
        os.mkdir(f"{self.dir}/t")
        self.running = []
        cores = sorted(os.sched_getaffinity(0))
        # Proxies, clients and origins run on different cores as far as the machine has them.
        self.cpu = {"proxy": cores[1 % len(cores):][:1], "origin": cores[2:] or cores[:1]}
        os.sched_setaffinity(0, cores[:1])
        self.ports = {name: free_port() for name in ("tunnel", "http", "dns")}
        self.hosts = self.write("hosts", "127.0.0.1 origin.test\n")
        self.start("origin", [sys.executable, f"{HERE}/tunnel_load.py", str(self.ports["tunnel"])], self.ports["tunnel"])
        self.start("origin", ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", f"--port={self.ports['dns']}",
                              "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--local=/test/",
                              f"--addn-hosts={self.hosts}", "--local-ttl=300", "--log-facility=-"], self.ports["dns"])
        if options.nginx:
            self.start("origin", [options.nginx, "-p", self.dir, "-c", self.write("nginx.conf", NGINX.format(
                dir=self.dir, small="x" * 100, **self.ports))], self.ports["http"])

    def write(self, name, text):
        """Uses a folder of its own: Sluice watches the folder of its configuration, and other files must not wake it."""
        path = f"{self.dir}/conf/{name}/{name}"
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, role, command, port):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, self.cpu[role]))
        self.running.append(process)
        wait_for(port, process, 60)
        return process

    def stop(self, process):
        self.running.remove(process)
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    def proxy(self, name):
        """Starts a proxy, and returns its process and the port."""
        peer, port = PEERS[name], free_port()
        path = self.options.sluice if name == "sluice" else shutil.which(peer.program)
        file = self.write(f"{peer.program}-{port}.{'yaml' if name == 'sluice' else 'conf'}", peer.template.format(
            dir=self.dir, port=port, hosts=self.hosts, **self.ports, **peer.values))
        return self.start("proxy", peer.command(path, file), port), port

    def close(self):
        for process in list(self.running):
            self.stop(process)
        shutil.rmtree(self.dir)


def work(bench, measure, name, port, share=1):
    """Has a proxy do one piece of work, or a share of it. Returns how many units it was."""
    options, host = bench.options, PEERS[name].name
    tunnel = Target(port, host and f"{host}:{bench.ports['tunnel']}")
    if measure == "open":
        tunnel_load.open_tunnels(tunnel, HELLO, int(options.tunnels * share), AT_ONCE)
        return int(options.tunnels * share)
    if measure == "requests":
        at = f"{host}:{bench.ports['http']}"
        request = f"GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n".encode()
        tunnel_load.send_requests(port, request, int(options.requests * share), AT_ONCE)
        return int(options.requests * share)
    size = int(STREAM_BYTES * share)
    tunnel_load.transfer(tunnel, HELLO, STREAMS, *((size, 0) if measure == "down" else (0, size)))
    return STREAMS * size / (1 << 20)


def costs(bench, measure, names):
    """Returns {proxy: median of CPU seconds per unit}; the repeats of all proxies take turns."""
    running = {name: bench.proxy(name) for name in names}
    for name, (_, port) in running.items():
        work(bench, measure, name, port, 0.25)
    figures = {name: [] for name in names}
    for repeat in range(bench.options.repeats):
        for name in names if repeat % 2 == 0 else reversed(names):
            process, port = running[name]
            before = cpu_seconds(process.pid)
            units = work(bench, measure, name, port)
            figures[name].append((cpu_seconds(process.pid) - before) / units)
    for process, _ in running.values():
        bench.stop(process)
    return {name: statistics.median(values) for name, values in figures.items()}


def settled_kib(pid):
    """Returns the memory once it has stayed the same for three seconds; buffers of idle connections may be given back before."""
    before, since = memory_kib(pid), time.monotonic()
    end = since + 20
    while time.monotonic() < min(since + 3, end):
        time.sleep(0.25)
        now = memory_kib(pid)
        if abs(now - before) > max(64, before // 200):
            before, since = now, time.monotonic()
    return memory_kib(pid)


def idle_kib(bench, name):
    """Returns KiB per idle tunnel of a proxy that has just been started."""
    process, port = bench.proxy(name)
    target = Target(port, f"{PEERS[name].name}:{bench.ports['tunnel']}")
    tunnel_load.open_tunnels(target, HELLO, 1, 1)  # what the first tunnel of all needs is not counted
    before = settled_kib(process.pid)
    held = tunnel_load.hold_tunnels(target, HELLO, bench.options.idle, AT_ONCE)
    after = settled_kib(process.pid)
    for connection in held:
        connection.close()
    bench.stop(process)
    return (after - before) / bench.options.idle


def show(bench, measure, names):
    if measure == "idle":
        values = {name: idle_kib(bench, name) for name in names}
    else:
        values = costs(bench, measure, names)
    for name in names:
        ratio, kib = f"{values[name] / values[names[0]]:.2f}", f"{values[name]:.1f}"
        print(f"| {measure} | {name} |  | {ratio} | {kib} |" if measure == "idle" else f"| {measure} | {name} | {ratio} |  |  |", flush=True)
        if bench.options.verbose and measure != "idle":
            print(f"{name}: {values[name] * 1e6:.1f} us per {MEASURES[measure].unit}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.path.join(HERE, "../build/release/sluice"), help="'' leaves it out")
    parser.add_argument("--nginx", default=shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"))
    parser.add_argument("--only", default=",".join(MEASURES), help="of " + ", ".join(f"{k} ({v.title})" for k, v in MEASURES.items()))
    parser.add_argument("--peers", default="squid,apache,tinyproxy,haproxy", help="those that are not installed are left out; '' for none")
    parser.add_argument("--repeats", type=int, default=5, help="of the CPU measurements")
    parser.add_argument("--tunnels", type=int, default=4000, help="opened per repeat")
    parser.add_argument("--requests", type=int, default=20000, help="per repeat")
    parser.add_argument("--idle", type=int, default=2000, help="tunnels that are held open")
    parser.add_argument("--verbose", action="store_true", help="shows the times that the ratios are made of, on standard error")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    there = [name for name in options.peers.split(",") if name and shutil.which(PEERS[name].program)]
    left_out = set(filter(None, options.peers.split(","))) - set(there)
    if left_out:
        print("not installed: " + ", ".join(sorted(left_out)), file=sys.stderr)
    first = ["sluice"] if options.sluice else []
    bench = Bench(options)
    try:
        base = (first or there)[0].capitalize()
        print(f"| | proxy | CPU, {base} = 1 | memory, {base} = 1 | KiB per tunnel |\n|---|---|---|---|---|")
        for measure in options.only.split(","):
            names = first + [name for name in MEASURES[measure].peers if name.split(",")[0] in there]
            if names:
                show(bench, measure, names)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
