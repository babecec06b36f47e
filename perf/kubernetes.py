#!/usr/bin/env python3
"""Measures a gateway that has its configuration from a Kubernetes API server, beside the bounds. See README.md.

The API server is kapi of the tests (test/support/kube). Works on 127.0.0.1, on ports from the kernel, in a temporary folder, and ends
what it started. Exit status 1 if a figure is beyond its bound.
"""
import argparse
import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120  # seconds until a wait is given up
SIZES = (0, 1000, 3000)  # routes beside the one that changes
CHANGES = 40  # for each size
BURST = 1000  # changes while traffic is asked for
ROUTES, SERVICES, ENDPOINTS = 5000, 1000, 10  # of the measurement of memory
REST = 60  # seconds
BOUND_P50, BOUND_MEMORY = 50, 80  # milliseconds, MB

GATEWAY = "/apis/gateway.networking.k8s.io/v1"
BACKEND = "/apis/gateway.networking.x-k8s.io/v1alpha1/namespaces/perf/xbackends"
ROUTE = GATEWAY + "/namespaces/perf/httproutes"
SERVICE = "/api/v1/namespaces/perf/services"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/perf/endpointslices"
SETTINGS = """\
workers: 1
accessLog: {path: "off"}
dns: {hosts: {origin.test: [127.0.0.1]}}
addressGuard: {allow: [127.0.0.0/8]}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(holds, what, pause=0.05):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if holds():
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(pause)
    sys.exit(f"{what} does not get there")


class ApiServer:
    """kapi, and requests to it as its administrator, with a connection for each thread."""

    def __init__(self, kapi, folder):
        self.data = os.path.join(folder, "data")
        self.port = free_port()
        self.process = subprocess.Popen([os.path.join(kapi, "kapi"), "--data-dir", self.data, "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.local = threading.local()
        self.kubeconfig = os.path.join(self.data, "kubeconfig")
        wait(lambda: os.path.exists(self.kubeconfig) and self.ask("GET", "/readyz", raw=True), "the API server")
        command = [os.path.join(kapi, "kubectl"), "--kubeconfig", self.kubeconfig, "--cache-dir", os.path.join(folder, "cache")]
        subprocess.run(command + ["apply", "--server-side", "-f", os.path.join(HERE, "..", "test", "support", "kube", "crds")],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run(command + ["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"], check=True,
                       stdout=subprocess.DEVNULL)

    def connection(self):
        if not hasattr(self.local, "connection"):
            context = ssl.create_default_context(cafile=os.path.join(self.data, "ca.crt"))
            context.load_cert_chain(os.path.join(self.data, "admin.crt"), os.path.join(self.data, "admin.key"))
            self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=PATIENCE)
        return self.local.connection

    def ask(self, method, path, body=None, raw=False):
        for attempt in range(20):
            status, text = self.ask_once(method, path, body)
            if status < 300:
                return text if raw else json.loads(text)
            if raw:
                return ""
            if status == 409 and attempt > 0:
                return None  # the attempt before has done it
            if status not in (429, 500, 503, 504):
                break
            time.sleep(0.5)  # a busy machine
        return sys.exit(f"{method} {path}: {status} {text[:500]}")

    def ask_once(self, method, path, body):
        connection = self.connection()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    def create(self, path, name, spec=None, labels=None, **members):
        body = {"metadata": {"name": name, "labels": labels or {}}, **members}
        if spec is not None:
            body["spec"] = spec
        group = path.split("/namespaces/")[0].removesuffix("/gatewayclasses").removesuffix("/namespaces")
        kinds = {"namespaces": "Namespace", "gatewayclasses": "GatewayClass", "gateways": "Gateway", "httproutes": "HTTPRoute",
                 "xbackends": "XBackend", "services": "Service", "endpointslices": "EndpointSlice", "configmaps": "ConfigMap"}
        body["apiVersion"] = group.removeprefix("/apis/").removeprefix("/api/")
        body["kind"] = kinds[path.rsplit("/", 1)[1]]
        return self.ask("POST", path, body)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def requests(self):
        """Returns how many requests it has answered so far, by verb and resource; watches count when they end."""
        counts = {}
        for line in self.ask("GET", "/metrics", raw=True).splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            key = labels.get("verb", "") + " " + labels.get("resource", "")
            counts[key] = counts.get(key, 0) + float(line.rsplit(" ", 1)[1])
        return counts


class Gateway:
    """The gateway, two origins that say who they are, and what it uses."""

    def __init__(self, programs, server, port, log):
        self.admin, self.health, self.port = free_port(), free_port(), port
        self.process = subprocess.Popen([os.path.join(programs, "sluice"), "run", "--kubernetes", "--kubeconfig", server.kubeconfig,
                                         "--admin", f"127.0.0.1:{self.admin}", "--health", f"127.0.0.1:{self.health}"],
                                        stdout=log, stderr=log)
        wait(lambda: self.get(self.health, "/readyz")[0] == 200, "the gateway")

    @staticmethod
    def get(port, path, connection=None):
        connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def metric(self, name):
        total = 0.0
        for line in self.get(self.admin, "/metrics")[1].splitlines():
            if line.startswith(name):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024 / 1e6

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


def rules(path, backend="one", kind="xbackends"):
    ref = {"name": backend, "port": 80}
    if kind == "xbackends":
        ref = {"group": "gateway.networking.x-k8s.io", "kind": "XBackend", "name": backend}
    return {"parentRefs": [{"name": "egress"}], "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": path}}],
                                                           "backendRefs": [ref]}]}


class Bench:
    def __init__(self, options, folder):
        self.log = open(os.path.join(folder, "log"), "w")
        self.server = ApiServer(options.kapi, folder)
        self.pool = concurrent.futures.ThreadPoolExecutor(8)
        self.port = free_port()
        self.origin_port = free_port()
        self.origin = subprocess.Popen([os.path.join(options.programs, "sluice-echo"), "--listen", f"127.0.0.1:{self.origin_port}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        create = self.server.create
        create("/api/v1/namespaces", "perf")
        create("/api/v1/namespaces/perf/configmaps", "settings", data={"settings.yaml": SETTINGS})
        create(GATEWAY + "/gatewayclasses", "perf",
               {"controllerName": "sluice.dev/egress-gateway",
                "parametersRef": {"group": "", "kind": "ConfigMap", "namespace": "perf", "name": "settings"}})
        create(GATEWAY + "/namespaces/perf/gateways", "egress",
               {"gatewayClassName": "perf", "addresses": [{"type": "IPAddress", "value": "127.0.0.1"}],
                "listeners": [{"name": "http", "protocol": "HTTP", "port": self.port}]})
        create(BACKEND, "one", {"type": "ExternalHostname", "port": {"port": self.origin_port}, "protocol": "HTTP",
                                "externalHostname": {"hostname": "origin.test"}})
        create(ROUTE, "steady", rules("/steady"))
        create(ROUTE, "changing", rules("/changing"))
        self.routes = 0
        self.gateway = Gateway(options.programs, self.server, self.port, self.log)
        wait(lambda: self.gateway.get(self.port, "/steady")[0] == 200, "traffic")

    def stop(self):
        self.gateway.stop()
        self.origin.kill()
        self.origin.wait()
        self.pool.shutdown(cancel_futures=True)
        self.server.stop()
        self.log.close()

    def add_routes(self, count):
        """Adds routes until there are `count` besides those that the others use, and waits until the last one is served."""
        wanted = range(self.routes, count)
        list(self.pool.map(lambda i: self.server.create(ROUTE, f"r-{i}", rules(f"/r/{i}/")), wanted))
        self.routes = max(self.routes, count)
        if wanted:
            wait(lambda: self.gateway.get(self.port, f"/r/{count - 1}/")[0] == 200, "the last route")

    def change_times(self):
        """Returns how long it takes from the answer of the API server to a change until the change is served, in ms, sorted."""
        times = []
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        for number in range(CHANGES):
            path = f"/changing/{self.routes}/{number}"
            self.server.ask("PATCH", ROUTE + "/changing", {"spec": rules(path)})
            begun = time.perf_counter()
            while self.gateway.get(self.port, path, client)[0] != 200:
                if time.perf_counter() > begun + PATIENCE:
                    sys.exit("a change is never served")
            times.append((time.perf_counter() - begun) * 1000)
            time.sleep(0.1)
        return sorted(times)


class Traffic:
    """Asks for one route over and over, and counts the answers."""

    def __init__(self, port):
        self.good = self.bad = 0
        self.ends = False
        self.port = port
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        while not self.ends:
            try:
                status = Gateway.get(self.port, "/steady", client)[0]
            except (OSError, http.client.HTTPException):
                status = 0
                client.close()
            self.good += status == 200
            self.bad += status != 200

    def stop(self):
        self.ends = True
        self.thread.join()


class Table:
    def __init__(self):
        self.beyond = False
        print("| what | measured | bound |\n|---|---|---|", flush=True)

    def row(self, what, measured, bound="", good=True):
        self.beyond = self.beyond or not good
        print(f"| {what} | {measured} | {bound}{'' if good else ' EXCEEDED'} |", flush=True)


def measure_changes(bench, table):
    traffic = Traffic(bench.port)
    for size in SIZES:
        bench.add_routes(size)
        times = bench.change_times()
        p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
        table.row(f"changed at the API server to served, {size} routes", f"p50 {p50:.0f} ms, p99 {p99:.0f} ms",
                  f"p50 {BOUND_P50} ms", p50 <= BOUND_P50)
    before, begun = bench.gateway.metric("sluice_config_reloads_total"), time.monotonic()
    patch = lambda i: bench.server.ask("PATCH", f"{ROUTE}/r-{i % SIZES[-1]}", {"spec": {"hostnames": [f"h{i}.test"]}})
    list(bench.pool.map(patch, range(BURST)))
    took = time.monotonic() - begun
    bench.server.ask("PATCH", ROUTE + "/changing", {"spec": rules("/changing/last")})
    wait(lambda: bench.gateway.get(bench.port, "/changing/last")[0] == 200, "the last change")
    compiled = bench.gateway.metric("sluice_config_reloads_total") - before
    table.row(f"compilations of {BURST} changes in {took:.1f} s", f"{compiled:.0f}", f"{20 * max(1, took):.0f}", compiled <= 20 * max(1, took))
    traffic.stop()
    table.row(f"failed of {traffic.good + traffic.bad} requests meanwhile", traffic.bad, "0", traffic.bad == 0)


def measure_size(bench, table):
    addresses = [{"addresses": [f"127.0.1.{i}"], "conditions": {"ready": True}} for i in range(1, ENDPOINTS + 1)]

    def service(i):
        bench.server.create(SERVICE, f"s-{i}", {"ports": [{"name": "web", "port": 80}]})
        bench.server.create(SLICE, f"s-{i}", labels={"kubernetes.io/service-name": f"s-{i}"}, addressType="IPv4",
                            ports=[{"name": "web", "port": 8080}], endpoints=addresses)
        bench.server.create(ROUTE, f"to-{i}", rules(f"/s/{i}/", f"s-{i}", "services"))

    list(bench.pool.map(service, range(SERVICES)))
    bench.add_routes(ROUTES - SERVICES)
    bench.server.ask("PATCH", ROUTE + "/changing", {"spec": rules("/changing/size")})
    wait(lambda: bench.gateway.get(bench.port, "/changing/size")[0] == 200, "the last change")
    resident = bench.gateway.resident()
    what = f"resident memory at {ROUTES} routes and {SERVICES} Services with {ENDPOINTS} endpoints"
    table.row(what + ", as it grew", f"{resident:.0f} MB", f"{BOUND_MEMORY} MB", resident <= BOUND_MEMORY)
    cpu, begun = bench.gateway.cpu(), time.monotonic()
    for number in range(20):
        bench.server.ask("PATCH", ROUTE + "/changing", {"spec": rules(f"/changing/cpu/{number}")})
        wait(lambda n=number: bench.gateway.get(bench.port, f"/changing/cpu/{n}")[0] == 200, "a change", 0.005)
    table.row("processor time of one change at that size", f"{(bench.gateway.cpu() - cpu) * 1000 / 20:.0f} ms")
    bench.gateway.stop()
    begun = time.monotonic()
    bench.gateway = Gateway(bench.options.programs, bench.server, bench.port, bench.log)
    wait(lambda: bench.gateway.get(bench.port, "/steady")[0] == 200, "traffic")
    started = time.monotonic() - begun
    resident = bench.gateway.resident()
    table.row(what + ", started anew", f"{resident:.0f} MB", f"{BOUND_MEMORY} MB", resident <= BOUND_MEMORY)
    table.row("start at that size", f"{started:.1f} s, {bench.gateway.cpu():.1f} s of processor time")


def count_requests(bench):
    """Returns the requests that the API server gets within REST seconds, but for those of the measurement."""
    before = bench.server.requests()
    time.sleep(REST)
    return {key: count - before.get(key, 0) for key, count in bench.server.requests().items() if not key.endswith(" ")}


def measure_rest(bench, table):
    cpu = bench.gateway.cpu()
    made = count_requests(bench)
    cpu = bench.gateway.cpu() - cpu
    bench.gateway.stop()
    own = count_requests(bench)  # the API server asks itself
    bench.gateway = Gateway(bench.options.programs, bench.server, bench.port, bench.log)
    more = {key: count - own.get(key, 0) for key, count in made.items() if count > 1.2 * own.get(key, 0) + 1}
    table.row(f"requests to the API server in {REST} s of rest", ", ".join(f"{n:.0f} {key}" for key, n in more.items()) or "none",
              "Lease renewals", all("leases" in key for key in more))
    table.row("processor at rest", f"{cpu * 100 / REST:.1f} % of a core")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.path.join(HERE, "..", "build", "release"), help="folder of sluice and sluice-echo")
    parser.add_argument("--kapi", default=os.path.join(os.environ.get("SLUICE_KAPI_DIR", os.path.expanduser("~/.cache/sluice/kapi")), "bin"),
                        help="folder of kapi and kubectl, which test/support/kube/build.sh leaves")
    parser.add_argument("--only", choices=("changes", "size", "rest"), action="append", help="measure only this; may be repeated")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sluice-perf-")
    table = Table()
    try:
        bench = Bench(options, folder)
        bench.options = options
        try:
            for name, measure in (("changes", measure_changes), ("size", measure_size), ("rest", measure_rest)):
                if options.only is None or name in options.only:
                    measure(bench, table)
        finally:
            bench.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if table.beyond else 0)


if __name__ == "__main__":
    main()
