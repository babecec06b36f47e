"""What kubernetes.py measures with: kapi, the API server of the tests, and processes of sluice that follow it."""
import atexit
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120  # seconds until a wait is given up


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


def get(port, path, connection=None):
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


class ApiServer:
    """kapi, and requests to it as its administrator, with a connection for each thread."""

    def __init__(self, kapi, folder):
        self.data = os.path.join(folder, "data")
        self.port = free_port()
        self.process = subprocess.Popen([os.path.join(kapi, "kapi"), "--data-dir", self.data, "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        self.local = threading.local()
        self.kubeconfig = os.path.join(self.data, "kubeconfig")
        wait(lambda: os.path.exists(self.kubeconfig) and self.ask("GET", "/readyz", raw=True), "the API server")
        command = [os.path.join(kapi, "kubectl"), "--kubeconfig", self.kubeconfig, "--cache-dir", os.path.join(folder, "cache")]
        for kinds in (("-f", "test/support/kube/crds"), ("-k", "config/kustomize/crds")):
            subprocess.run(command + ["apply", "--server-side", kinds[0], os.path.join(HERE, "..", kinds[1])],
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
            try:
                status, text = self.ask_once(method, path, body)
            except (OSError, http.client.HTTPException) as error:  # a connection that was idle for long is closed
                status, text = 0, str(error)
            if 0 < status < 300:
                return text if raw else json.loads(text)
            if status == 409 and attempt > 0:
                return None  # the attempt before has done it
            if raw and status > 0:
                return ""
            if status not in (0, 429, 500, 503, 504):
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

    def samples(self, name):
        """Returns the labels and the value of each sample of a metric."""
        for line in self.ask("GET", "/metrics", raw=True).splitlines():
            if line.startswith(name + "{"):
                yield dict(re.findall(r'(\w+)="([^"]*)"', line)), float(line.rsplit(" ", 1)[1])

    def requests(self):
        """Returns how many requests about objects it has answered so far, by verb and resource; watches count when they end."""
        return self.sums("apiserver_request_total")

    def watches(self):
        """Returns how many watches are open, by resource."""
        return {key: count for key, count in self.sums("apiserver_longrunning_requests").items() if key.startswith("WATCH ")}

    def sums(self, name):
        counts = {}
        for labels, value in self.samples(name):
            if labels["resource"]:
                key = f"{labels['verb']} {labels['resource']}{'/' * bool(labels['subresource'])}{labels['subresource']}"
                counts[key] = counts.get(key, 0) + value
        return counts


class Program:
    """A process of sluice that has its configuration from the API server: `sluice run --kubernetes` or `sluice controller`."""

    def __init__(self, programs, server, log, *command):
        self.admin, health = free_port(), free_port()
        self.process = subprocess.Popen([os.path.join(programs, "sluice"), *command, "--kubeconfig", server.kubeconfig,
                                         "--admin", f"127.0.0.1:{self.admin}", "--health", f"127.0.0.1:{health}"],
                                        stdout=log, stderr=log)
        atexit.register(self.process.kill)
        wait(lambda: get(health, "/readyz")[0] == 200, "sluice " + command[0])

    def metric(self, name):
        lines = get(self.admin, "/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))

    def resident(self):
        """Returns MB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024 / 1e6

    def cpu(self):
        """Returns the seconds of processor time since the start."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
