#!/usr/bin/env python3
"""Measures the cost of a request: Sluice beside nginx, HAProxy and nghttpx on this machine, in one run. See README.md.

Everything listens on 127.0.0.1, on ports from the kernel, works in a temporary folder, and ends with the script. The origin is nginx
with TLS. Needs nginx, h2load (nghttp2-client), openssl; haproxy and nghttpx if installed; strace for system calls; valgrind for
instructions.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import typing

from budget import within_budget
from callgrind import instructions_by_object
from plot import HEAD, plot

HERE = os.path.dirname(os.path.abspath(__file__))


class Scenario(typing.NamedTuple):
    title: str
    load: list  # h2load's options
    front: str  # the client's protocol
    back: str  # the origin's protocol; nginx 1.22 supports only HTTP/1.1 there
    path: str
    requests: int  # per repeat
    upload: bool = False
    tls: bool = False  # TLS to the client too

    def url(self, port):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{port}{self.path}"

    def bulk(self):
        """True if a request has 1 MiB: its instructions are not counted, as they would be those of copying."""
        return self.path in ("/large", "/up")


H1_LOAD, H2_LOAD = ["--h1", "-c64"], ["-c8", "-m32"]
H1_BULK, H2_BULK = ["--h1", "-c16"], ["-c4", "-m4"]
SCENARIOS = {
    "S1": Scenario("HTTP/1.1 to HTTP/1.1 over TLS, 100 bytes", H1_LOAD, "h1", "h1", "/small", 20000),
    "S2": Scenario("HTTP/2 to HTTP/2 over TLS, 100 bytes", H2_LOAD, "h2", "h2", "/small", 40000),
    "S2b": Scenario("HTTP/2 to HTTP/1.1 over TLS, 100 bytes", H2_LOAD, "h2", "h1", "/small", 20000),
    "S3": Scenario("HTTP/1.1 to HTTP/1.1 over TLS, 10 KiB", H1_LOAD, "h1", "h1", "/medium", 20000),
    "S3b": Scenario("HTTP/2 to HTTP/2 over TLS, 10 KiB", H2_LOAD, "h2", "h2", "/medium", 20000),
    "S4": Scenario("HTTP/1.1 to HTTP/1.1 over TLS, 1 MiB down", H1_BULK, "h1", "h1", "/large", 800),
    "S4b": Scenario("HTTP/2 to HTTP/2 over TLS, 1 MiB down", H2_BULK, "h2", "h2", "/large", 800),
    "S5": Scenario("HTTP/1.1 to HTTP/1.1 over TLS, 1 MiB up", H1_BULK, "h1", "h1", "/up", 800, upload=True),
    "S5b": Scenario("HTTP/2 to HTTP/2 over TLS, 1 MiB up", H2_BULK, "h2", "h2", "/up", 800, upload=True),
    "S9": Scenario("HTTP/1.1 to HTTP/1.1, TLS on both sides, 100 bytes", H1_LOAD, "h1", "h1", "/small", 20000, tls=True),
    "S9b": Scenario("HTTP/2 to HTTP/2, TLS on both sides, 100 bytes", H2_LOAD, "h2", "h2", "/small", 40000, tls=True),
}
WARM_UP, COUNTED = 768, 1024  # requests under valgrind

ORIGIN = """
daemon off; worker_processes 2; pid {dir}/origin.pid; error_log {dir}/origin.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; http2_max_concurrent_streams 1024; sendfile off;
  client_body_temp_path {dir}/t; proxy_temp_path {dir}/t; fastcgi_temp_path {dir}/t; uwsgi_temp_path {dir}/t; scgi_temp_path {dir}/t;
  ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ssl_ecdh_curve X25519;
  ssl_certificate {dir}/origin.pem; ssl_certificate_key {dir}/origin.key; output_buffers 4 256k;
  client_max_body_size 0; client_body_buffer_size 2m; http2_body_preread_size 2m; http2_chunk_size 16k;
  server {{
    listen 127.0.0.1:{h1} ssl; listen 127.0.0.1:{h2} ssl http2;
    location = /small {{ return 200 "{small}"; }}
    location = /guarded {{ add_header x-saw $http_x_guard; return 200 "{small}"; }}
    location = /medium {{ alias {dir}/medium; }}
    location = /large {{ alias {dir}/large; }}
    # Reads the whole body, then answers.
    location = /up {{ proxy_pass http://unix:{dir}/sink; proxy_pass_request_body off; proxy_set_header Content-Length ""; }}
  }}
  server {{ listen unix:{dir}/sink; location / {{ return 200; }} }}
}}
"""

SLUICE = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: load}}
spec:
  controllerName: sluice.dev/egress-gateway
  parametersRef: {{group: "", kind: ConfigMap, namespace: load, name: settings}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{namespace: load, name: settings}}
data:
  settings.yaml: |
    workers: 1
    accessLog: {{path: "off"}}
    dns: {{hosts: {{origin.test: [127.0.0.1]}}}}
    addressGuard: {{allow: [127.0.0.0/8]}}
    timeouts: {{clientIdle: 1h, upstreamIdle: 1h}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{namespace: load, name: origin-ca}}
data:
  ca.crt: |
{ca_indented}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{namespace: load, name: egress}}
spec:
  gatewayClassName: load
  addresses: [{{type: IPAddress, value: 127.0.0.1}}]
  listeners: [{{name: client, port: {port}, {sluice_front}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: load, name: origin}}
spec:
  parentRefs: [{{name: egress}}]
  rules: [{{backendRefs: [{{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: {up}}}]}}]
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {{namespace: load, name: origin}}
spec:
  destination: {{type: FQDN, fqdn: {{hostname: origin.test, port: {up}}}}}
  tls: {{mode: Terminate, sni: origin.test, caBundleRef: {{name: origin-ca}}}}
---
apiVersion: v1
kind: Secret
metadata: {{namespace: load, name: listener}}
type: kubernetes.io/tls
stringData:
  tls.crt: |
{ca_indented}
  tls.key: |
{key_indented}
"""

NGINX = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/nginx.log warn;
events {{ worker_connections 4096; multi_accept on; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; http2_max_concurrent_streams 256;
  client_body_temp_path {dir}/t; proxy_temp_path {dir}/t; fastcgi_temp_path {dir}/t; uwsgi_temp_path {dir}/t; scgi_temp_path {dir}/t;
  ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ssl_ecdh_curve X25519;
  ssl_certificate {dir}/origin.pem; ssl_certificate_key {dir}/origin.key; ssl_buffer_size 16k; client_max_body_size 0;
  upstream origin {{ server 127.0.0.1:{up}; keepalive 1024; keepalive_requests 1000000000; keepalive_timeout 1h; }}
  server {{
    listen 127.0.0.1:{port} {nginx_front};
    location / {{
      proxy_pass https://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host origin.test;
      proxy_ssl_server_name on; proxy_ssl_name origin.test; proxy_ssl_verify on; proxy_ssl_trusted_certificate {dir}/origin.pem;
      proxy_request_buffering off; proxy_ssl_protocols TLSv1.3; proxy_ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
      proxy_buffer_size 16k; proxy_buffers 8 32k; proxy_busy_buffers_size 96k; proxy_max_temp_file_size 0;
    }}
  }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 4000
  ssl-default-bind-options ssl-min-ver TLSv1.3
  ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256
  ssl-default-server-options ssl-min-ver TLSv1.3
  ssl-default-server-ciphersuites TLS_AES_128_GCM_SHA256
  tune.h2.initial-window-size 1048576
defaults
  mode http
  timeout client 1h
  timeout server 1h
  timeout connect 10s
frontend client
  bind 127.0.0.1:{port} {haproxy_front}
  default_backend origin
backend origin
  http-reuse always
  http-request set-header Host origin.test
  server origin 127.0.0.1:{up} ssl verify required ca-file {dir}/origin.pem sni str(origin.test) verifyhost origin.test alpn {alpn} pool-max-conn -1 pool-purge-delay 1h
"""

NGHTTPX = """
workers=1
single-process=yes
pid-file={dir}/nghttpx.pid
errorlog-file={dir}/nghttpx.log
frontend=127.0.0.1,{port}{nghttpx_front}
backend=127.0.0.1,{up};;tls;proto={alpn};sni=origin.test
cacert={dir}/origin.pem
tls-min-proto-version=TLSv1.3
private-key-file={dir}/origin.key
certificate-file={dir}/origin.pem
tls13-ciphers=TLS_AES_128_GCM_SHA256
tls13-client-ciphers=TLS_AES_128_GCM_SHA256
backend-keep-alive-timeout=3600
frontend-http2-max-concurrent-streams=256
frontend-http2-window-size=1048576
frontend-http2-connection-window-size=16777216
backend-http2-window-size=1048576
backend-http2-connection-window-size=16777216
"""

# Commands that start each proxy with the file that its template became.
PROXIES = {
    "sluice": (SLUICE, lambda options, file: [options.sluice, "run", "--config", file, "--workers", "1",
                                              "--admin", "127.0.0.1:0", "--health", "127.0.0.1:0"]),
    "nginx": (NGINX, lambda options, file: [options.nginx, "-p", os.path.dirname(file), "-c", file]),
    "haproxy": (HAPROXY, lambda options, file: ["haproxy", "-db", "-f", file]),
    "nghttpx": (NGHTTPX, lambda options, file: ["nghttpx", "--conf=" + file]),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, seconds):
    end = time.time() + seconds
    while time.time() < end:
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} ended: {process.stderr.read().decode(errors='replace')[-500:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{process.args[0]} does not listen on port {port}")


class Bench:
    """Owns the origin, its certificate and a folder during one run."""

    def __init__(self, options):
        self.options = options
        self.dir = tempfile.mkdtemp(prefix="load-")
        os.chmod(self.dir, 0o755)  # the origin's workers may be another user
        self.running = []
        self.references = {}
        cores = sorted(os.sched_getaffinity(0))
        # Proxy, client and origin run on different cores as far as the machine has them.
        self.cpu = {"proxy": cores[1 % len(cores):][:1], "client": cores[:1], "origin": cores[2:] or cores[:1]}
        self.make_files()
        self.h1, self.h2 = free_port(), free_port()
        self.start("origin", [options.nginx, "-p", self.dir, "-c", self.write("origin.conf", ORIGIN.format(
            dir=self.dir, h1=self.h1, h2=self.h2, small="x" * 100))], self.h1, 10)

    def make_files(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=origin.test", "-addext", "subjectAltName=DNS:origin.test",
                        "-keyout", f"{self.dir}/origin.key", "-out", f"{self.dir}/origin.pem"], check=True, capture_output=True)
        os.mkdir(f"{self.dir}/t")
        with open(f"{self.dir}/origin.both", "wb") as both:
            for part in ("pem", "key"):
                with open(f"{self.dir}/origin.{part}", "rb") as file:
                    both.write(file.read())
        for name, size in (("medium", 10 << 10), ("large", 1 << 20)):
            with open(f"{self.dir}/{name}", "wb") as body:
                body.write(os.urandom(size))

    def write(self, name, text):
        """Uses a folder of its own: Sluice watches the folder of its configuration, and other files must not wake it."""
        path = f"{self.dir}/conf/{name}/{name}"
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, role, command, port, seconds):
        cores = self.cpu["origin" if role == "origin" else "proxy"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.running.append(process)
        wait_for(port, process, seconds)
        return process

    def stop(self, process):
        self.running.remove(process)
        try:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()

    def proxy(self, name, scenario, wrapper=()):
        it = SCENARIOS[scenario]
        template, command = PROXIES[name]
        port, up = free_port(), self.h2 if it.back == "h2" and name != "nginx" else self.h1
        h2 = it.front == "h2"
        both = f"ssl crt {self.dir}/origin.both alpn {'h2' if h2 else 'http/1.1'}"
        file = self.write(f"{name}-{port}.yaml" if name.startswith("sluice") else f"{name}-{port}.conf", template.format(
            dir=self.dir, port=port, up=up, ca_indented=self.indented("pem"), key_indented=self.indented("key"),
            sluice_front="protocol: HTTPS, tls: {mode: Terminate, certificateRefs: [{name: listener}]}" if it.tls else "protocol: HTTP",
            nginx_front=("ssl " if it.tls else "") + ("http2" if h2 else ""), nghttpx_front="" if it.tls else ";no-tls",
            haproxy_front=both if it.tls else "proto h2" if h2 else "", alpn="h2" if it.back == "h2" else "http/1.1"))
        return port, self.start("proxy", [*wrapper, *command(self.options, file)], port, 60)

    def indented(self, part):
        with open(f"{self.dir}/origin.{part}", encoding="utf-8") as file:
            return "".join("    " + line for line in file)

    def load(self, port, scenario, requests):
        """Sends this many requests, all of which must succeed; returns how many."""
        it = SCENARIOS[scenario]
        body = ["-d", f"{self.dir}/large"] if it.upload else []
        done = subprocess.run(["taskset", "-c", ",".join(map(str, self.cpu["client"])), "h2load", *it.load, *body, f"-n{requests}",
                               "--tls13-ciphers=TLS_AES_128_GCM_SHA256", it.url(port)], capture_output=True, text=True, timeout=300)
        found = re.search(r"(\d+) total, .*?(\d+) succeeded", done.stdout)
        if not found or found[1] != found[2]:
            sys.exit(f"{scenario}: not every request succeeded: {done.stdout[-800:]}")
        return int(found[1])

    def library_instructions(self, part):
        """Returns what library_reference spends for a request in the libraries."""
        if part not in self.references:
            out = f"{self.dir}/callgrind.{part}"
            subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*doRounds*",
                            f"--callgrind-out-file={out}", self.options.reference, part, str(COUNTED)], check=True, capture_output=True)
            by_object = instructions_by_object(out)
            self.references[part] = sum(count for file, count in by_object.items() if file != os.path.realpath(self.options.reference)) / COUNTED
        return self.references[part]

    def close(self):
        for process in list(self.running):
            self.stop(process)
        shutil.rmtree(self.dir)


def cpu_seconds(pid):
    return sum(int(open(path, encoding="ascii").read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e9


def cost_of(bench, port, process, scenario):
    """Returns microseconds of CPU per request."""
    before = cpu_seconds(process.pid)
    requests = bench.load(port, scenario, SCENARIOS[scenario].requests)
    return (cpu_seconds(process.pid) - before) / requests * 1e6


def calls_of(bench, port, process, scenario):
    """Returns system calls per request, counted from outside."""
    report = f"{bench.dir}/strace"
    tracer = subprocess.Popen(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", report, "-p", str(process.pid)],
                              stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    requests = bench.load(port, scenario, SCENARIOS[scenario].requests // 4)
    tracer.send_signal(signal.SIGINT)
    tracer.wait(10)
    text = open(report, encoding="ascii").read()
    if bench.options.verbose:
        print(text, file=sys.stderr)
    return int(re.search(r"^ *(\d+) total", text, re.M)[1]) / requests


def instructions_of(bench, name, scenario):
    """Returns user instructions per request under callgrind, by program or library: after a warm-up, and once two counts in a row agree
    within 1 %, the lower of both. On a busy machine less is handled at once, so only more is counted."""
    out = f"{bench.options.profile or bench.dir}/callgrind.{name}.{scenario}"
    for old in glob.glob(out + "*"):
        os.unlink(old)
    port, process = bench.proxy(name, scenario, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
    bench.load(port, scenario, WARM_UP)
    counts = []
    while len(counts) < 6:
        subprocess.run(["vgdb", f"--pid={process.pid}", "zero"], check=True, capture_output=True)
        requests = bench.load(port, scenario, COUNTED)
        subprocess.run(["vgdb", f"--pid={process.pid}", "dump"], check=True, capture_output=True)
        by_object = instructions_by_object(f"{out}.{len(counts) + 1}")
        counts.append({file: count / requests for file, count in by_object.items()})
        totals = [sum(count.values()) for count in counts]
        if len(totals) > 1 and abs(totals[-1] - totals[-2]) < 0.01 * totals[-2]:
            break
    bench.stop(process)
    return min(counts[-2:], key=lambda count: sum(count.values()))


def figures_of(bench, name, scenario):
    """Returns {figure: value} of the instructions of a request. Those of Sluice are told apart: its own, and those of the libraries as
    a multiple of what library_reference spends there for the same work."""
    by_object = instructions_of(bench, name, scenario)
    figures = {"instructions": sum(by_object.values())}
    if name == "sluice" and os.path.exists(bench.options.reference):
        own = by_object[os.path.realpath(bench.options.sluice)]
        reference = bench.library_instructions("records") + (bench.library_instructions("http2") if "h2" in SCENARIOS[scenario][2:4] else 0)
        figures.update(own=own, libraries=(figures["instructions"] - own) / reference)
    return figures


def measure(bench, names, scenario):
    """Returns {proxy: {figure: value}}; the repeats of all proxies take turns."""
    options = bench.options
    results = {name: {} for name in names}
    if options.repeats > 0 or options.calls:
        proxies = {name: bench.proxy(name, scenario) for name in names}
        for name, (port, process) in proxies.items():
            bench.load(port, scenario, SCENARIOS[scenario].requests // 4)
            if options.calls:
                results[name]["calls"] = calls_of(bench, port, process, scenario)
        costs = {name: [] for name in names}
        for repeat in range(options.repeats):
            for name in names if repeat % 2 == 0 else reversed(names):
                costs[name].append(cost_of(bench, *proxies[name], scenario))
        for name, (_, process) in proxies.items():
            if costs[name]:
                results[name]["cpu"] = statistics.median(costs[name])
            bench.stop(process)
    if options.instructions and not SCENARIOS[scenario].bulk():
        for name in names:
            results[name].update(figures_of(bench, name, scenario))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.path.join(HERE, "../build/release/sluice"))
    parser.add_argument("--reference", default=os.path.join(HERE, "../build/release/library_reference"),
                        help="what libraries cost by themselves; without it they are not told apart")
    parser.add_argument("--nginx", default=shutil.which("nginx") or "/usr/sbin/nginx")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help="of " + ", ".join(f"{k} ({v.title})" for k, v in SCENARIOS.items()))
    parser.add_argument("--peers", default="nginx,haproxy,nghttpx", help="those that are not installed are left out; '' for none")
    parser.add_argument("--repeats", type=int, default=5, help="of the CPU measurement; 0 for none")
    parser.add_argument("--calls", action="store_true", help="system calls per request (strace)")
    parser.add_argument("--instructions", action="store_true", help="user instructions per request (valgrind)")
    parser.add_argument("--budget", help="file of bounds that Sluice's figures are held against; exit status 1 if one is passed")
    parser.add_argument("--profile", help="existing folder that keeps callgrind's files, for callgrind_annotate")
    parser.add_argument("--verbose", action="store_true", help="shows what system calls there were")
    parser.add_argument("--plot", metavar="FILE", help="measures nothing: makes the pictures of the table in this file, such as README.md or what "
                        "an earlier run has printed, in the folder `pictures` beside it (gnuplot)")
    options = parser.parse_args()
    if options.plot:
        with open(options.plot, encoding="utf-8") as results:
            print("\n".join(plot(results.read(), os.path.join(os.path.dirname(options.plot) or ".", "pictures"))))
        return 0
    if options.budget and options.instructions and not os.path.exists(options.reference):
        parser.error(f"the budget needs {options.reference}, which is not there: build the target library_reference")
    names = ["sluice"] + [p for p in options.peers.split(",") if p == "nginx" or shutil.which(p)]
    bench = Bench(options)
    figures = {}
    try:
        print(HEAD + "\n|---|---|---|---|---|")
        for scenario in options.scenarios.split(","):
            results = measure(bench, names, scenario)
            figures[scenario] = results["sluice"]
            for name, row in results.items():
                cpu = f"{row['cpu'] / results['sluice']['cpu']:.2f}" if "cpu" in row else ""
                calls = f"{row['calls']:.2f}" if "calls" in row else ""
                instructions = f"{row['instructions']:,.0f}" if "instructions" in row else ""
                print(f"| {scenario} | {name} | {cpu} | {calls} | {instructions} |", flush=True)
    finally:
        bench.close()
    return 0 if options.budget is None or within_budget(options.budget, figures) else 1


if __name__ == "__main__":
    sys.exit(main())
