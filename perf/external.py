"""Measures what asking an external processor adds to a request: Sluice with ext_proc beside HAProxy with SPOE. For processors.py.

Both servers are C++ on the same library, answer each message by setting one field or variable, and run on one thread. The gateways get
1,000 requests a second, and take turns. The origin says which field it saw, so that no gateway is measured that has not asked.
"""
import os
import statistics
import string
import subprocess
import sys
import time

import load

RATE, CLIENTS, SECONDS = 1000, 20, 3  # requests a second, over so many connections, for so long

# Texts as load.py has them, in which its braces are still doubled.
PROCESSOR = string.Template("""---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {{namespace: load, name: guard}}
spec: {{destination: {{type: FQDN, fqdn: {{hostname: origin.test, port: $port}}}}}}
---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {{namespace: load, name: guard}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: origin}}
  processors:
  - name: guard
    type: sluice.dev/ExtProc:v1
    timeout: 1s
    config:
      backendRefs: [{{group: gateway.networking.k8s.io, kind: Backend, name: guard, port: $port}}]
      processingMode: {{requestHeaders: Send, requestBody: $mode, responseHeaders: Skip, responseBody: Skip}}
""")

SPOE = string.Template("""[guard]
spoe-agent guard
  messages request
  option var-prefix guard
  timeout hello 2s
  timeout idle 1h
  timeout processing 1s
  use-backend agents
spoe-message request
  args method=method path=path headers=req.hdrs_bin $arguments
  event on-frontend-http-request
""")

FRONTEND = string.Template("""frontend client
  $option
  filter spoe engine guard config $file
  http-request set-header x-guard %[var(txn.guard.seen)]
""")

AGENTS = string.Template("""backend agents
  mode tcp
  server agent 127.0.0.1:$port
""")

# What is asked about: the mode of Sluice's processor, the arguments of SPOE's message, and HAProxy's option that they need.
CASES = {
    "headers": ("Skip", "", ""),
    "headers, body of 1 KiB": ("Buffered", "body=req.body", "option http-buffer-request"),
}
SERVERS = {"sluice": ("sluice-ext-proc", ["--set", "x-guard=seen"]), "haproxy": ("sluice-spoa", ["--name", "seen", "--value", "seen"])}
SCENARIO = load.Scenario("HTTP/1.1 to HTTP/1.1 over TLS", [], "h1", "h1", "/guarded", 0)


def start_servers(bench, folder):
    ports = {}
    for gateway, (program, options) in SERVERS.items():
        ports[gateway] = load.free_port()
        bench.start("origin", [f"{folder}/{program}", "--port", str(ports[gateway]), *options], ports[gateway], 10)
    return ports


def asking(bench, gateway, case, ports):
    """Adds the gateway with a processor to those that load.py knows, and returns its name."""
    mode, arguments, option = CASES[case]
    name = f"{gateway}-asking-{mode}"
    template, command = load.PROXIES[gateway]
    if gateway == "sluice":
        template += PROCESSOR.substitute(port=ports[gateway], mode=mode)
    else:
        file = bench.write(f"spoe-{mode}", SPOE.substitute(arguments=arguments))
        template = template.replace("frontend client\n", FRONTEND.substitute(option=option, file=file))
        template += AGENTS.substitute(port=ports[gateway])
    load.PROXIES[name] = (template, command)
    return name


def field_seen(port, body):
    """Returns the value of x-guard that the origin has seen."""
    done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%header{x-saw}", *body, SCENARIO.url(port)], capture_output=True,
                          text=True, check=True, timeout=10)
    return done.stdout


def cost_of(bench, port, process, body):
    """Returns the median of the times until the end of the response, and the proxy's CPU per request, in microseconds."""
    log = f"{bench.dir}/times"
    before = load.cpu_seconds(process.pid)
    # Connections that open one after the other send their requests one after the other, instead of all at the same time.
    pace = [f"-c{CLIENTS}", "-r1", "--rate-period=1ms", f"--rps={RATE // CLIENTS}", f"-n{RATE * SECONDS}"]
    done = subprocess.run(["taskset", "-c", ",".join(map(str, bench.cpu["client"])), "h2load", "--h1", *pace, f"--log-file={log}", *body,
                           SCENARIO.url(port)], capture_output=True, text=True, timeout=300)
    spent = load.cpu_seconds(process.pid) - before
    with open(log, encoding="ascii") as file:
        rows = [line.split("\t") for line in file]
    os.unlink(log)  # h2load appends to it
    if len(rows) != RATE * SECONDS or any(row[1] != "200" for row in rows):
        sys.exit(f"not every request succeeded: {done.stdout[-800:]}")
    return statistics.median(int(row[2]) for row in rows), spent / len(rows) * 1e6


def run_in_turns(bench, names, body, repeats):
    """Returns {name: [(time, CPU)]}, a row for each repeat. `names` are pairs of a gateway without and with a processor."""
    running = {name: bench.proxy(name, "external") for pair in names for name in pair}
    time.sleep(0.5)  # their connections to the servers are made meanwhile
    curl = ["--data-binary", "@" + body[1]] if body else []
    for pair in names:
        for name, wanted in zip(pair, ("", "seen")):
            if field_seen(running[name][0], curl) != wanted:
                sys.exit(f"{name}: the origin has not seen the field x-guard: {wanted}")
    rows = {name: [] for name in running}
    for repeat in range(repeats + 1):
        for pair in names if repeat % 2 == 0 else reversed(names):
            for name in pair:
                rows[name].append(cost_of(bench, *running[name], body))
    for _, process in running.values():
        bench.stop(process)
    return {name: figures[1:] for name, figures in rows.items()}  # the first ones warm up


def measure(bench, case, ports, repeats, figures_of):
    """Returns {gateway: (without, with, instructions added)}, the first two as [time, CPU per request]: of the repeats the least of the
    times, because other programs on the machine make each wake-up later, and the median of the CPU."""
    body = ["-d", bench.write("body", "x" * 1024)] if "body" in case else []
    names = [(gateway, asking(bench, gateway, case, ports)) for gateway in SERVERS]
    rows = run_in_turns(bench, names, body, repeats)
    load.SCENARIOS[case] = SCENARIO._replace(load=["--h1", "-c1", *body])
    results = {}
    for pair in names:
        figures = [[min(times), statistics.median(spent)] for times, spent in (zip(*rows[name]) for name in pair)]
        counts = [figures_of(bench, name, case)[0] for name in pair]
        results[pair[0]] = (*figures, counts[1] - counts[0])
    return results


def compare(options, figures_of):
    """Prints the table of README.md. `figures_of` counts instructions, as processors.py does."""
    load.SCENARIOS["external"] = SCENARIO
    bench = load.Bench(options)
    try:
        ports = start_servers(bench, options.servers)
        print("| asked about | gateway | p50, without = 1 | CPU, without = 1 | added p50, HAProxy = 1 | added CPU, HAProxy = 1 |"
              " added instructions |\n|---|---|---|---|---|---|---|")
        for case in CASES:
            results = measure(bench, case, ports, options.repeats, figures_of)
            added = {gateway: [after - before for before, after in zip(plain, asked)] for gateway, (plain, asked, _) in results.items()}
            for gateway, (plain, asked, instructions) in results.items():
                cells = [f"{after / before:.2f}" for before, after in zip(plain, asked)]
                cells += [f"{mine / haproxy:.2f}" for mine, haproxy in zip(added[gateway], added["haproxy"])]
                print(f"| {case} | {gateway} | {' | '.join(cells)} | {instructions:,.0f} |", flush=True)
                if options.verbose:
                    print(f"{gateway}: time and CPU in us, without {plain}, with {asked}", file=sys.stderr)
    finally:
        bench.close()
