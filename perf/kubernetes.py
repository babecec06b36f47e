#!/usr/bin/env python3
"""Measures a gateway that has its configuration from a Kubernetes API server, beside the bounds. See README.md.

The API server is kapi of the tests (test/support/kube). Works on 127.0.0.1, on ports from the kernel, in a temporary folder, and ends
what it started. Exit status 1 if a figure is beyond its bound.
"""
import argparse
import concurrent.futures
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from kube import PATIENCE, ApiServer, Program, free_port, get, wait

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (0, 1000, 3000)  # routes beside the one that changes
CHANGES = 40  # for each size
BURST = 1000  # changes while traffic is asked for
WRITES = 200  # routes that are changed while writes are counted
ROUTES, SERVICES, ENDPOINTS = 5000, 1000, 10  # of the measurement of size
CHANGES_AT_SIZE = 40
REST = 60  # seconds
BOUND_P50, BOUND_WRITES = 50, 1  # milliseconds, status writes for a change
BOUND_MEMORY = {"gateway": 55, "controller": 70}  # MB
BOUND_CPU, BOUND_P50_AT_SIZE = 40, 100  # milliseconds for a change, with all routes
REVISIONS_AT_ONCE = 6  # the first one of a Gateway, some after a rest, and one that is under way; then one in a minute

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


def rules(path, backend="one", kind="xbackends"):
    ref = {"name": backend, "port": 80}
    if kind == "xbackends":
        ref = {"group": "gateway.networking.x-k8s.io", "kind": "XBackend", "name": backend}
    return {"parentRefs": [{"name": "egress"}], "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": path}}],
                                                           "backendRefs": [ref]}]}


class Bench:
    def __init__(self, options, folder):
        self.programs = options.programs
        self.folder = folder
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
        create(ROUTE, "changing", rules("/not-yet"))
        self.routes = 0
        self.running = {}

    def run(self, **commands):
        """Runs these commands of sluice by these names, in place of those that run, until the gateway among them serves traffic."""
        for program in self.running.values():
            program.stop()
        self.running = {}
        for name, command in commands.items():
            self.running[name] = Program(self.programs, self.server, self.log, *command.split())
        if commands:
            wait(lambda: self.serves("/steady"), "traffic")

    def serves(self, path, client=None):
        return get(self.port, path, client)[0] == 200

    def change(self, route, path):
        """Changes a route, and returns its generation."""
        return self.server.ask("PATCH", f"{ROUTE}/{route}", {"spec": rules(path)})["metadata"]["generation"]

    def has_status(self, route, generation):
        """Returns true if all that the status of the route says is of that generation, and that its replicas serve it is said."""
        parents = self.server.ask("GET", f"{ROUTE}/{route}").get("status", {}).get("parents", [])
        said = {each["type"]: each for parent in parents for each in parent["conditions"]}
        return (said.get("sluice.dev/Programmed", {}).get("status") == "True"
                and all(each.get("observedGeneration") == generation for each in said.values()))

    def status_writes(self):
        """Returns how many there were so far, by kind."""
        return {key.split()[1]: count for key, count in self.server.requests().items() if key.endswith("/status")}

    def finish_writing(self):
        """Waits until no status has been written for three seconds."""
        last = None
        while last != (last := self.status_writes()):
            time.sleep(3)

    def stop(self):
        self.run()
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
            wait(lambda: self.serves(f"/r/{count - 1}/"), "the last route")

    def change_times(self):
        """Returns how long it takes from the answer of the API server to a change until the change is served, in ms, sorted."""
        times = []
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        for number in range(CHANGES):
            path = f"/changing/{self.routes}/{number}"
            self.change("changing", path)
            begun = time.perf_counter()
            while not self.serves(path, client):
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
                status = get(self.port, "/steady", client)[0]
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
    bench.run(gateway="run --kubernetes")
    traffic = Traffic(bench.port)
    for size in SIZES:
        bench.add_routes(size)
        times = bench.change_times()
        p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
        table.row(f"changed at the API server to served, {size} routes", f"p50 {p50:.0f} ms, p99 {p99:.0f} ms",
                  f"p50 {BOUND_P50} ms", p50 <= BOUND_P50)
    reloads = lambda: bench.running["gateway"].metric("sluice_config_reloads_total")
    before, begun = reloads(), time.monotonic()
    patch = lambda i: bench.server.ask("PATCH", f"{ROUTE}/r-{i % SIZES[-1]}", {"spec": {"hostnames": [f"h{i}.test"]}})
    list(bench.pool.map(patch, range(BURST)))
    took = time.monotonic() - begun
    bench.change("changing", "/changing/last")
    wait(lambda: bench.serves("/changing/last"), "the last change")
    compiled = reloads() - before
    bound = 20 * max(1, took)
    table.row(f"compilations of {BURST} changes in {took:.1f} s", f"{compiled:.0f}", f"{bound:.0f}", compiled <= bound)
    traffic.stop()
    table.row(f"failed of {traffic.good + traffic.bad} requests meanwhile", traffic.bad, "0", traffic.bad == 0)


def measure_writes(bench, table):
    bench.run(gateway="run --kubernetes --controller")
    bench.add_routes(WRITES)
    count_writes(bench, table, "one process")
    bench.run(gateway="run --kubernetes", controller="controller")
    count_writes(bench, table, "a gateway and a controller")


def count_writes(bench, table, what):
    """Changes one route after the other, each when the status of the one before says that it is served."""
    bench.finish_writing()
    before = bench.server.requests()
    for number in range(WRITES):
        generation = bench.change(f"r-{number}", f"/r/{number}/{what.replace(' ', '-')}")
        wait(lambda n=number, g=generation: bench.has_status(f"r-{n}", g), "a status", 0.02)
    bench.finish_writing()
    made = {key: count - before.get(key, 0) for key, count in bench.server.requests().items()}
    statuses = {key: count for key, count in made.items() if key.endswith("/status") and count > 0}
    writes = sum(statuses.values()) / WRITES
    table.row(f"status writes for a change of one route, {what}",
              f"{writes:.2f} (in all " + ", ".join(f"{count:.0f} {key}" for key, count in statuses.items()) + ")",
              BOUND_WRITES, writes <= BOUND_WRITES)
    table.row(f"Lease writes meanwhile, for each change, {what}", f"{made.get('PATCH leases', 0) / WRITES:.2f}")


def measure_size(bench, table):
    addresses = [{"addresses": [f"127.0.1.{i}"], "conditions": {"ready": True}} for i in range(1, ENDPOINTS + 1)]

    def service(i):
        bench.server.create(SERVICE, f"s-{i}", {"ports": [{"name": "web", "port": 80}]})
        bench.server.create(SLICE, f"s-{i}", labels={"kubernetes.io/service-name": f"s-{i}"}, addressType="IPv4",
                            ports=[{"name": "web", "port": 8080}], endpoints=addresses)
        bench.server.create(ROUTE, f"to-{i}", rules(f"/s/{i}/", f"s-{i}", "services"))

    # As the Pods of a Gateway run, but with a folder that survives the process.
    both = {"gateway": f"run --kubernetes --gateway perf/egress --state-dir {bench.folder}/state", "controller": "controller"}
    bench.run(**both)
    print_use(bench, table, f"with {bench.routes + 2} routes", bound=False)
    revisions = lambda: bench.server.requests().get("POST egressrevisions", 0)
    before, begun = revisions(), time.monotonic()
    list(bench.pool.map(service, range(SERVICES)))
    bench.add_routes(ROUTES - SERVICES)
    what = f"with {ROUTES} routes and {SERVICES} Services of {ENDPOINTS} endpoints"
    print_use(bench, table, what + ", as it grew")
    took = time.monotonic() - begun
    made, most = revisions() - before, REVISIONS_AT_ONCE + took // 50
    table.row(f"EgressRevisions of these routes, in {took:.0f} s", f"{made:.0f}", f"{most:.0f}", made <= most)
    count_cpu(bench, table)
    begun = time.monotonic()
    bench.run(gateway=both["gateway"])
    table.row("gateway, from its start to traffic at that size", f"{time.monotonic() - begun:.1f} s")
    bench.run(**both)
    print_use(bench, table, what + ", started anew")


def count_cpu(bench, table):
    """Changes one route over and over, each time when its status says that all replicas serve the change before."""
    before = {name: program.cpu() for name, program in bench.running.items()}
    times = []
    for number in range(CHANGES_AT_SIZE):
        generation = bench.change("changing", f"/changing/cpu/{number}")
        begun = time.perf_counter()
        wait(lambda n=number: bench.serves(f"/changing/cpu/{n}"), "a change", 0.005)
        times.append((time.perf_counter() - begun) * 1000)
        wait(lambda g=generation: bench.has_status("changing", g), "a status", 0.02)
    for name, program in bench.running.items():
        used = (program.cpu() - before[name]) * 1000 / CHANGES_AT_SIZE
        table.row(f"{name}, processor time of one change at that size", f"{used:.1f} ms", f"{BOUND_CPU} ms", used <= BOUND_CPU)
    p50 = sorted(times)[len(times) // 2]
    table.row("changed at the API server to served at that size", f"p50 {p50:.0f} ms", f"p50 {BOUND_P50_AT_SIZE} ms",
              p50 <= BOUND_P50_AT_SIZE)


def print_use(bench, table, what, bound=True):
    """Prints what the programs have and have used, once the last change has its status and all others have theirs."""
    generation = bench.change("changing", "/changing/" + what.replace(" ", "-").replace(",", ""))
    wait(lambda: bench.has_status("changing", generation), "a status")
    bench.finish_writing()
    for name, program in bench.running.items():
        resident = program.resident()
        table.row(f"{name} {what}: resident memory", f"{resident:.0f} MB", f"{BOUND_MEMORY[name]} MB" if bound else "",
                  not bound or resident <= BOUND_MEMORY[name])
        table.row(f"{name} {what}: processor time since the start", f"{program.cpu():.1f} s")


def count_requests(bench):
    """Returns the requests that the API server gets within REST seconds."""
    before = bench.server.requests()
    time.sleep(REST)
    return {key: count - before.get(key, 0) for key, count in bench.server.requests().items() if count > before.get(key, 0)}


def measure_rest(bench, table):
    bench.run()
    own, own_watches = count_requests(bench), bench.server.watches()  # the API server asks itself
    bench.run(gateway="run --kubernetes", controller="controller")
    bench.finish_writing()
    before = {name: program.cpu() for name, program in bench.running.items()}
    made = {key: count for key, count in count_requests(bench).items() if count > 1.05 * own.get(key, 0)}
    watches = {key: count - own_watches.get(key, 0) for key, count in bench.server.watches().items()}
    # A watch ends by the time that it was opened for, which is longer than the measurement, so each may do so once.
    good = all(key.endswith(" leases") or count <= watches.get(key, 0) for key, count in made.items())
    table.row(f"requests to the API server in {REST} s of rest", ", ".join(f"{n:.0f} {key}" for key, n in made.items()) or "none",
              "Lease renewals, and watches that end by their time", good)
    table.row("watches that stay open", f"{sum(watches.values()):.0f}")
    for name, program in bench.running.items():
        table.row(f"{name}, processor at rest", f"{(program.cpu() - before[name]) * 100 / REST:.1f} % of a core")


MEASUREMENTS = {"changes": measure_changes, "writes": measure_writes, "size": measure_size, "rest": measure_rest}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.path.join(HERE, "..", "build", "release"), help="folder of sluice and sluice-echo")
    parser.add_argument("--kapi", default=os.path.join(os.environ.get("SLUICE_KAPI_DIR", os.path.expanduser("~/.cache/sluice/kapi")), "bin"),
                        help="folder of kapi and kubectl, which test/support/kube/build.sh leaves")
    parser.add_argument("--only", choices=tuple(MEASUREMENTS), action="append", help="measure only this; may be repeated")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sluice-perf-")
    table = Table()
    try:
        bench = Bench(options, folder)
        try:
            for name, measure in MEASUREMENTS.items():
                if options.only is None or name in options.only:
                    measure(bench, table)
        finally:
            bench.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if table.beyond else 0)


if __name__ == "__main__":
    main()
