#!/usr/bin/env python3
"""Measures a configuration of thousands of routes: compiling it, changing one of its files, keeping it in memory. See README.md.

Writes a folder of HTTPRoutes, a file each; has `validate` read it, then `run` serve it while one file changes again and again. Works
on 127.0.0.1, on ports from the kernel, in a temporary folder, and ends what it started. Needs valgrind. Exit status 1 if a bound is
missed.
"""
import argparse
import http.client
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGED = 77  # the route whose file changes
PATIENCE = 120  # seconds until a wait is given up
YAML = ("sluice::config::forEachDocument*", "sluice::config::readObjects*")  # parsing, and the reader of the parsed documents
READING = ("sluice::control::FileSource::read*", "sluice::control::makeConfiguration*")

BASE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: sluice}}
spec: {{controllerName: sluice.dev/egress-gateway}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{namespace: perf, name: egress}}
spec:
  gatewayClassName: sluice
  listeners: [{{name: http, protocol: HTTP, port: {port}}}]
"""

BACKEND = """\
---
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {{namespace: perf, name: b{number}}}
spec:
  destination:
    type: Fqdn
    fqdn: {{hostname: b{number}.example.com}}
    ports: [{{number: 443, protocol: HTTP2, tls: {{mode: Simple, sni: b{number}.example.com}}}}]
"""
BACKENDS = 10

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: perf, name: route-{number}, generation: 1}}
spec:
  parentRefs: [{{name: egress}}]
  hostnames: [h{host}.example.com]
  rules:
    - name: api
      matches:
        - path: {{type: PathPrefix, value: {path}}}
          headers: [{{name: x-tenant, value: t{number}}}]
      filters:
        - type: RequestHeaderModifier
          requestHeaderModifier: {{set: [{{name: x-route, value: "{number}"}}]}}
      timeouts: {{request: 10s, backendRequest: 5s}}
      backendRefs:
        - {{group: sluice.dev, kind: Backend, name: b{first}, port: 443, weight: 9}}
        - {{group: sluice.dev, kind: Backend, name: b{second}, port: 443, weight: 1}}
"""
HOSTS = 1000

# What each route has beside it in its file, by --each-with.
BESIDE = {
    "nothing": "",
    "policy": """\
---
apiVersion: sluice.dev/v1alpha1
kind: TrafficPolicy
metadata: {{namespace: perf, name: policy-{number}}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route-{number}}}]
  retry: {{codes: [503], attempts: 2}}
  timeout: {{tcp: {{connectTimeout: 5s}}}}
""",
    "processor": """\
---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {{namespace: perf, name: processor-{number}}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route-{number}}}
  processors: [{{name: tag, type: 'sluice.dev/HeaderModifier:v1', phase: request-headers, config: {{set: [{{name: x-tag, value: "{number}"}}]}}}}]
""",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(happened, what, pause=0.001):
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {PATIENCE} s")
        time.sleep(pause)


def get(port, path, headers=None):
    """Returns status and body; the status is 0 if nothing listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except ConnectionRefusedError:
        return 0, ""
    finally:
        connection.close()


class Folder:
    """A folder with a Gateway, ten Backends, and `routes` HTTPRoutes under a thousand hostnames, each in a file of its own."""

    def __init__(self, path, routes, beside):
        self.path = path
        self.beside = beside
        self.port = free_port()
        self.versions = 0
        with open(f"{path}/base.yaml", "w", encoding="utf-8") as file:
            file.write(BASE.format(port=self.port) + "".join(BACKEND.format(number=each) for each in range(BACKENDS)))
        for number in range(routes):
            self.write(number, f"/api/v{number}")

    def write(self, number, path):
        """Writes the route by renaming over its file, as editors and deployments do."""
        with open(f"{self.path}/.next", "w", encoding="utf-8") as file:
            file.write((ROUTE + self.beside).format(number=number, host=number % HOSTS, path=path, first=number % BACKENDS,
                                                    second=(number + 1) % BACKENDS))
        os.rename(f"{self.path}/.next", f"{self.path}/route-{number:05}.yaml")

    def change(self):
        """Gives one route a new path, and returns that path."""
        self.versions += 1
        path = f"/api/changed-{self.versions}"
        self.write(CHANGED, path)
        return path

    def serves(self, path):
        return get(self.port, path, {"Host": f"h{CHANGED % HOSTS}.example.com", "x-tenant": f"t{CHANGED}"})[0] != 404


class Gateway:
    """Runs `run` with one worker."""

    def __init__(self, binary, folder, wrapper=()):
        self.folder = folder
        self.health, self.admin = free_port(), free_port()
        self.process = subprocess.Popen(
            [*wrapper, binary, "run", "--config", folder.path, "--workers", "1", "--health", f"127.0.0.1:{self.health}", "--admin",
             f"127.0.0.1:{self.admin}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: get(self.health, "/readyz")[0] == 200 or self.process.poll() is not None, "ready", 0.05)
        if self.process.returncode is not None:
            sys.exit(f"{binary} does not serve the folder")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def reloads(self, result):
        return int(re.search(r'reloads_total{result="' + result + r'"} (\d+)', get(self.admin, "/metrics")[1])[1])

    def resident(self):
        """Returns the resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) / 1024

    def serve_change(self):
        """Returns the milliseconds until a request gets the change. The signal avoids the pause that the file watch makes for bursts."""
        path = self.folder.change()
        begin = time.monotonic()
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.folder.serves(path), "the change served")
        return (time.monotonic() - begin) * 1000

    def rest(self, reloads):
        """Waits until the file watch has looked too, and found nothing new; otherwise its reload would overlap with the next change."""
        wait_until(lambda: self.reloads("unchanged") >= reloads, "the watch's own look", 0.05)


def callgrind(out, toggles=()):
    """Counts from entering one of these functions to leaving it or entering the next; without any, counts the whole process."""
    collect = ["--collect-atstart=no"] if toggles else []
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *collect, *(f"--toggle-collect={each}" for each in toggles)]


def counted(path):
    with open(path, encoding="utf-8") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])


class Validated(typing.NamedTuple):
    instructions: int
    of_yaml: int
    user: float  # seconds
    system: float

    def beyond_yaml(self):
        """Returns milliseconds: all system time, and user time without the share of YAML's instructions."""
        return (self.user * (1 - self.of_yaml / self.instructions) + self.system) * 1000


def validate(binary, folder, scratch, repeats):
    """Returns the cheapest of some runs of `validate`, from start to end, including the printing of its report."""
    command = [binary, "validate", "--config", folder.path]

    def run(wrapper=()):
        process = subprocess.Popen([*wrapper, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit("`validate` finds something wrong with the folder")
        return usage

    usage = min((run() for _ in range(repeats)), key=lambda each: each.ru_utime + each.ru_stime)
    run(callgrind(f"{scratch}/whole"))
    run(callgrind(f"{scratch}/yaml", YAML))
    return Validated(counted(f"{scratch}/whole"), counted(f"{scratch}/yaml"), usage.ru_utime, usage.ru_stime)


class Served(typing.NamedTuple):
    milliseconds: list
    resident_first: float
    resident_last: float


def serve(binary, folder, repeats):
    with Gateway(binary, folder) as gateway:
        first = gateway.resident()
        times = []
        for repeat in range(repeats + 1):  # in the first, the process has never read anything twice
            times.append(gateway.serve_change())
            gateway.rest(repeat + 1)
        return Served(times[1:], first, gateway.resident())


def reload_instructions(binary, folder, scratch):
    """Returns the cost in user mode of reading and compiling a folder of which one file changed."""
    out = f"{scratch}/reload"
    with Gateway(binary, folder, callgrind(out, READING)) as gateway:
        for reading in range(2):
            subprocess.run(["vgdb", f"--pid={gateway.process.pid}", "zero"], check=True, capture_output=True)
            path = folder.change()  # noticed by the watch alone, so that it is read once
            wait_until(lambda: folder.serves(path), "the change served", 0.2)  # pylint: disable=cell-var-from-loop
            subprocess.run(["vgdb", f"--pid={gateway.process.pid}", "dump"], check=True, capture_output=True)
        return counted(f"{out}.{reading + 1}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "build", "release", "sluice"))
    parser.add_argument("--routes", type=int, default=5000)
    parser.add_argument("--each-with", choices=list(BESIDE), default="nothing", help="what each route has of its own; the bounds hold for nothing")
    parser.add_argument("--repeats", type=int, default=15, help="how often it is validated, and how often a file changes")
    parser.add_argument("--compiled-ms", type=float, default=250, help="bound of compiling all routes beyond YAML")
    parser.add_argument("--served-ms", type=float, default=50, help="bound of serving one changed file: of the median")
    parser.add_argument("--resident-mb", type=float, default=60, help="bound of what is resident after all changes, in MiB")
    options = parser.parse_args()
    if options.routes <= CHANGED or options.repeats < 1:
        parser.error(f"at least {CHANGED + 1} routes, and one repeat")
    print("| | | bound |\n|---|---|---|")
    good = True

    def show(what, value, unit, bound=None):
        nonlocal good
        if options.each_with != "nothing":
            bound = None
        missed = bound is not None and value >= bound
        good = good and not missed
        limit = "" if bound is None else f"{bound:,.0f} {unit}" + (" MISSED" if missed else "")
        print(f"| {what} | {value:,.0f} {unit} | {limit} |", flush=True)

    with tempfile.TemporaryDirectory(prefix="config-") as place:
        os.mkdir(f"{place}/served")
        folder = Folder(f"{place}/served", options.routes, BESIDE[options.each_with])
        validated = validate(options.binary, folder, place, options.repeats)
        show("all compiled, beyond YAML", validated.beyond_yaml(), "ms", options.compiled_ms)
        show("that", (validated.instructions - validated.of_yaml) / 1e6, "million instructions")
        show("YAML alone", validated.of_yaml / 1e6, "million instructions")
        served = serve(options.binary, folder, options.repeats)
        show("one changed file served, median", statistics.median(served.milliseconds), "ms", options.served_ms)
        show("the quickest of them", min(served.milliseconds), "ms")
        show("to read and compile it", reload_instructions(options.binary, folder, place) / 1e6, "million instructions")
        show("resident after the first reading", served.resident_first, "MiB")
        show("resident after all changes", served.resident_last, "MiB", options.resident_mb)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
