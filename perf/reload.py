#!/usr/bin/env python3
"""Reloads a gateway a thousand times under load, with every kind of change and of mistake, and checks that no request pays for it.
See README.md.

h2load asks over HTTP/1.1 and HTTP/2 while files change; a client of its own checks the status and the origin of each of its answers.
Works on 127.0.0.1, on ports from the kernel, in a temporary folder, and ends what it started. Exit status 1 if a request failed, or if
memory grew.
"""
import argparse
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # seconds until a wait is given up
REQUESTS = 5000  # of one run of h2load
MOST_GROWTH = 1.05  # of resident memory, between the tenth reload and the last one

BASE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: sluice}}
spec:
  controllerName: sluice.dev/egress-gateway
  parametersRef: {{group: "", kind: ConfigMap, namespace: perf, name: settings}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{namespace: perf, name: settings}}
data:
  settings.yaml: |
    workers: 2
    accessLog: {{path: "off"}}
    dns: {{hosts: {{origin.test: [127.0.0.1]}}}}
    addressGuard: {{allow: [127.0.0.0/8]}}
    {setting}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{namespace: perf, name: egress}}
spec:
  gatewayClassName: sluice
  addresses: [{{type: IPAddress, value: 127.0.0.1}}]
  listeners:
    - {{name: http, protocol: HTTP, port: {port}}}
    {listener}
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {{namespace: perf, name: origin}}
spec: {{destination: {{type: FQDN, fqdn: {{hostname: origin.test, port: {origin}}}}}}}
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {{namespace: perf, name: other}}
spec: {{destination: {{type: FQDN, fqdn: {{hostname: origin.test, port: {other}}}}}}}
---
apiVersion: v1
kind: Secret
metadata: {{namespace: perf, name: key}}
stringData: {{token: "{secret}"}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: perf, name: right}}
spec:
  parentRefs: [{{name: egress}}]
  rules:
    - backendRefs: [{{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: {origin}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: perf, name: changing}}
spec:
  hostnames: [{hostname}]
  parentRefs: [{{name: egress}}]
  rules:
    - matches: [{{path: {{value: {path}}}}}]
      {filters}
      {field}: [{{group: gateway.networking.k8s.io, kind: Backend, name: {backend}, port: {other}, weight: {weight}}}]
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gateway:
    """One gateway with its origins, and the files that it serves."""

    def __init__(self, programs, folder):
        self.config = os.path.join(folder, "config")
        os.mkdir(self.config)
        self.ports = {name: free_port() for name in ("port", "more", "origin", "other", "admin", "health")}
        self.started = []
        self.occupied = socket.socket()
        self.occupied.bind(("127.0.0.1", 0))
        self.occupied.listen()
        for name in ("origin", "other"):
            self.start([os.path.join(programs, "sluice-echo"), "--listen", f"127.0.0.1:{self.ports[name]}"])
        self.write(self.text())
        self.process = self.start([os.path.join(programs, "sluice"), "run", "--config", self.config, "--state-dir",
                                   os.path.join(folder, "state"), "--admin", f"127.0.0.1:{self.ports['admin']}",
                                   "--health", f"127.0.0.1:{self.ports['health']}", "--log-level", "off"])
        self.wait(lambda: self.get("health", "/readyz")[0] == 200)

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def stop(self):
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            process.wait(PATIENCE)
        self.occupied.close()

    @staticmethod
    def wait(holds):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if holds():
                    return
            except OSError:
                pass
            time.sleep(0.002)
        sys.exit("the gateway does not get there")

    def get(self, port, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[port], timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def text(self, **changes):
        values = dict(setting="timeouts: {request: 30s}", listener="", secret="one", hostname="changing.test", path="/", filters="",
                      backend="other", weight=1, field="backendRefs")
        values.update(changes)
        return BASE.format(**{name: self.ports[name] for name in ("port", "origin", "other")}, **values)

    def write(self, text):
        path = os.path.join(self.config, "gateway.yaml")
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def reloads(self):
        page = self.get("admin", "/metrics")[1]
        return sum(float(each) for each in re.findall(r"^sluice_config_reloads_total\{.*\} (\S+)$", page, re.M))

    def reload(self, text):
        before = self.reloads()
        self.write(text)
        self.process.send_signal(signal.SIGHUP)
        self.wait(lambda: self.reloads() > before)

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def changes(self, number):
        more = self.ports["more"]
        return [dict(path=f"/p{number}"), dict(hostname=f"h{number}.test"), dict(backend="origin"), dict(weight=1 + number % 9),
                dict(filters="filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x, value: "
                             f"'{number}'}}]}}}}]"),
                dict(setting=f"timeouts: {{request: {10 + number % 50}s}}"), dict(setting=f"limits: {{processorBuffer: {number + 1}Ki}}"),
                dict(secret=f"s{number}"), dict(listener=f"- {{name: more, protocol: HTTP, port: {more}}}"),
                dict(path=f"/q{number}", weight=2)]

    def mistakes(self, number):
        taken = self.occupied.getsockname()[1]
        return ["{[", self.text(setting=f"wrokers: {number}"), self.text(field="backendRef"), self.text(backend="nowhere"),
                self.text(path="'['"), self.text(listener=f"- {{name: more, protocol: HTTP, port: {taken}}}"),
                self.text().replace("sluice.dev/egress-gateway", "sluice.dev/egres"), self.text(filters="filters: [{type: Wrong}]")]


class Checker(threading.Thread):
    """Asks again and again, and checks who answered what."""

    def __init__(self, gateway):
        super().__init__()
        self.gateway, self.over, self.answers, self.wrong = gateway, False, 0, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.ports["port"], timeout=PATIENCE)
        origin = f"origin.test:{self.gateway.ports['origin']}"
        while not self.over:
            target = f"/{self.answers}"
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                body = json.loads(answer.read())
                if answer.status != 200 or body["target"] != target or body["authority"] != origin:
                    self.wrong.append(f"{answer.status} {body}")
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.wrong.append(repr(error))
            self.answers += 1


class Load(threading.Thread):
    """Runs h2load again and again, until it is told to stop."""

    def __init__(self, gateway, http1, runs=None):
        super().__init__()
        self.gateway, self.http1, self.runs = gateway, http1, runs
        self.over, self.requests, self.failed, self.micros = False, 0, 0, []

    def run(self):
        while not self.over and self.runs != 0:
            if self.runs is not None:
                self.runs -= 1
            self.ask()

    def ask(self):
        log = os.path.join(self.gateway.config, "..", f"h2load.{self.http1}")
        command = ["h2load", "-n", str(REQUESTS), "-c", "4", "--log-file", log]
        command += ["--h1"] if self.http1 else ["-m", "4"]
        text = subprocess.run(command + [f"http://127.0.0.1:{self.gateway.ports['port']}/"], capture_output=True, text=True,
                              timeout=PATIENCE).stdout
        good = re.search(r"status codes: (\d+) 2xx", text)
        self.requests += REQUESTS
        self.failed += REQUESTS - (int(good.group(1)) if good else 0)
        with open(log) as lines:
            self.micros += [int(line.split()[2]) for line in lines]
        os.remove(log)

    def p99(self):
        ordered = sorted(self.micros)
        return ordered[len(ordered) * 99 // 100]


def run_together(threads):
    for thread in threads:
        thread.start()
    return threads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=os.path.join(HERE, "..", "build", "release"), help="folder of sluice and sluice-echo")
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--mistakes", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(options.programs, folder)
        try:
            alone = run_together([Load(gateway, True, 3), Load(gateway, False, 3)])
            for thread in alone:
                thread.join()
            loads = run_together([Load(gateway, True), Load(gateway, False)])
            checker = Checker(gateway)
            checker.start()
            early = 0
            every = options.changes // options.mistakes
            for number in range(options.changes):
                kinds = gateway.changes(number)
                gateway.reload(gateway.text(**kinds[number % len(kinds)]))
                if number % every == every - 1:
                    mistakes = gateway.mistakes(number)
                    gateway.reload(mistakes[number // every % len(mistakes)])
                if number == 9:
                    early = gateway.resident()
            late = gateway.resident()
            for thread in loads + [checker]:
                thread.over = True
            for thread in loads + [checker]:
                thread.join()
        finally:
            gateway.stop()
    print("| | requests | failed | p99 beside the run without reloads |\n|---|---|---|---|")
    for name, before, after in zip(("HTTP/1.1", "HTTP/2"), alone, loads):
        print(f"| {name} | {after.requests:,} | {after.failed} | {after.p99() / before.p99():.2f} |")
    print(f"| checked one by one | {checker.answers:,} | {len(checker.wrong)} | |")
    print(f"\n{options.changes} changes and {options.mistakes} mistakes; resident memory after the last one {late / early:.3f} of that "
          f"after the tenth (bound {MOST_GROWTH})")
    for each in checker.wrong[:10]:
        print(each)
    sys.exit(1 if checker.wrong or any(each.failed for each in loads) or late > MOST_GROWTH * early else 0)


if __name__ == "__main__":
    main()
