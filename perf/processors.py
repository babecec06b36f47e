#!/usr/bin/env python3
"""Measures payload processors, in instructions and allocations per request. See README.md.

Counts with callgrind (valgrind), in the setting of load.py but over one connection, where a request costs the same each time: a route
without processors, by this build and by another one; and with six steps that change nothing, half of them on request-headers and half on
response-headers, and with twice as many; and with a script in Lua or a library in C that edits a field. Before that, if build/release/json_scan was built (-DSLUICE_BENCHMARKS=ON), it compares the
time of scanning a byte of JSON, as a body's route requires, with json.loads of the Python that runs this, and if build/release/expression
was built, it counts the instructions of an expression. Exit status 1 if a bound is missed. With --external, it compares external processors with HAProxy's instead, by time, CPU and instructions, as external.py says.
"""
import argparse
import base64
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import external
import load

MORE_THAN_BASELINE = 200  # instructions per request
MORE_BY_STEPS = {6: 5000, 12: None}
COUNTS, REQUESTS, WARM_UP = 5, 512, 512
SCAN_OF_LOADS = 0.8  # of the nanoseconds that json.loads takes for a byte
SCAN_ROUNDS = 7
EXPRESSION = 'json(request.body).model == "gpt-4o" ? "a" : "b"'
OF_EXPRESSION = 2500  # instructions
ALLOCATORS = re.compile(r"(malloc|calloc|realloc|operator new.*)('\d+)?$")

SCENARIOS = {
    "HTTP/1.1": load.Scenario("HTTP/1.1 to HTTP/1.1 over TLS, 100 bytes", ["--h1", "-c1"], "h1", "h1", "/small", 0),
    "HTTP/2": load.Scenario("HTTP/2 to HTTP/2 over TLS, 100 bytes", ["-c1", "-m1"], "h2", "h2", "/small", 0),
}

PROCESSORS = """---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {{{{namespace: load, name: nothing}}}}
spec:
  targetRef: {{{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: origin}}}}
  processors:
{steps}"""
SET = "  - {{{{name: edit, type: 'sluice.dev/HeaderModifier:v1', phase: request-headers, config: {{{{set: [{{{{name: x-edited, value: 'yes'}}}}]}}}}}}}}\n"
STEP = "  - {{{{name: {phase}-{number}, type: 'sluice.dev/HeaderModifier:v1', phase: {phase}, config: {{{{remove: [x-absent]}}}}}}}}\n"

LUA_BOUND = 6000
LUA_ENGINE = """    engine: lua
    lua:
      script: |
        function request_headers(m)
          if m.headers:get("x-absent") == nil then m.headers:set("x-edited", "yes") end
        end
"""

LIBRARY_BOUND = 1000  # more than a built-in step that makes the same edit
LIBRARY_ENGINE = """    engine: library
    library: {{file: edit.so}}
"""
LIBRARY = """#include "sluice_processor.h"
static const struct sluice_host* host;
static size_t configure(const char* t, size_t ts, const char* c, size_t cs, uint32_t p, void** use, char* e, size_t es) { return 0; }
static void release(void* use) {}
static int process(void* use, struct sluice_call* call) {
  const char* value;
  size_t size;
  if (host->header(call, "x-absent", 8, &value, &size) == 0) host->header_set(call, "x-edited", 8, "yes", 3);
  return SLUICE_CONTINUE;
}
static const struct sluice_processor edit = {sizeof edit, 1, 0, 1 << SLUICE_REQUEST_HEADERS, configure, release, 0, process, 0};
const struct sluice_processor* sluice_processor_v1(const struct sluice_host* gateway) { host = gateway; return &edit; }
"""

CATALOG = """---
apiVersion: v1
kind: ConfigMap
metadata: {{{{namespace: load, name: types}}}}
data:
  edit.yaml: |
    type: load.test/Edit:v1
    phases: [request-headers]
    schemaRef: {{{{name: schema}}}}
{engine}---
apiVersion: v1
kind: ConfigMap
metadata: {{{{namespace: load, name: schema}}}}
data: {{{{schema.json: '{{{{"type": "object"}}}}'}}}}
---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {{{{namespace: load, name: edit}}}}
spec:
  targetRef: {{{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: origin}}}}
  processors: [{{{{name: edit, type: 'load.test/Edit:v1', phase: request-headers}}}}]
"""


def with_engine(engine):
    """Returns a configuration with a use of a type that this engine makes."""
    catalogs = "    processorCatalogs: [{{namespace: load, name: types}}]\n"
    return load.SLUICE.replace("    workers: 1\n", "    workers: 1\n" + catalogs) + CATALOG.format(engine=engine)


def build_library(folder):
    """Compiles the library of the catalog into the folder."""
    source = os.path.join(folder, "edit.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LIBRARY)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", os.path.join(load.HERE, "../filters/library"),
                    "-o", os.path.join(folder, "edit.so"), source], check=True)


def with_steps(count):
    steps = [STEP.format(phase=phase, number=number) for phase in ("request-headers", "response-headers") for number in range(count // 2)]
    return load.SLUICE + PROCESSORS.format(steps="".join(steps))


def allocations_in(profile):
    """Returns the calls of functions that allocate, from a file of callgrind."""
    names, calls, called = {}, 0, False
    for line in profile.splitlines():
        found = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
        if found:
            if found[2]:
                names[found[1]] = found[2]
            called = line.startswith("c") and ALLOCATORS.match(names[found[1]].split("(")[0]) is not None
        elif called and line.startswith("calls="):
            calls += int(line[6:].split()[0])
    return calls


def figures_of(bench, name, scenario):
    """Returns (instructions, allocations) per request, the medians of COUNTS runs after a warm-up."""
    out = f"{bench.dir}/callgrind.{name}.{scenario.replace('/', '-')}"
    port, process = bench.proxy(name, scenario, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
    bench.load(port, scenario, WARM_UP)
    counts = []
    for number in range(1, COUNTS + 1):
        subprocess.run(["vgdb", f"--pid={process.pid}", "zero"], check=True, capture_output=True)
        bench.load(port, scenario, REQUESTS)
        subprocess.run(["vgdb", f"--pid={process.pid}", "dump"], check=True, capture_output=True)
        with open(f"{out}.{number}", encoding="utf-8") as file:
            profile = file.read()
        total = int(re.search(r"^(?:summary|totals): (\d+)", profile, re.M)[1])
        counts.append((total / REQUESTS, allocations_in(profile) / REQUESTS))
    bench.stop(process)
    return [statistics.median(column) for column in zip(*counts)]


def texts():
    """Returns bodies as clients of model providers send them: a conversation, an image, embeddings; in ASCII, as most libraries write."""
    chance = random.Random(1)
    words = [chance.choice("aeiou") + "".join(chance.choices("bcdfghklmnprst\u00e9", k=chance.randrange(1, 9))) for _ in range(2000)]
    say = lambda count: " ".join(chance.choices(words, k=count)).capitalize() + ".\n\"So\" it is."
    messages = [{"role": role, "content": say(chance.randrange(5, 120))} for role in ("user", "assistant") * 60]
    image = "data:image/png;base64," + base64.b64encode(chance.randbytes(400_000)).decode()
    parts = [{"type": "text", "text": say(10)}, {"type": "image_url", "image_url": {"url": image}}]
    return {
        "chat": {"messages": messages, "temperature": 0.7, "stream": True, "model": "gpt-4o"},
        "image": {"messages": [{"role": "user", "content": parts}], "model": "gpt-4o"},
        "floats": {"input": [[chance.uniform(-1, 1) for _ in range(1536)] for _ in range(10)], "model": "embed"},
    }


def loads_per_byte(text):
    """Returns nanoseconds per byte in the fastest round over as many bytes as json_scan takes."""
    times = max(1, (1 << 20) // len(text))
    least = float("inf")
    for _ in range(SCAN_ROUNDS * 4):
        begin = time.perf_counter_ns()
        for _ in range(times):
            json.loads(text)
        least = min(least, (time.perf_counter_ns() - begin) / times / len(text))
    return least


def compare_scans(binary):
    """Prints a row for each text; the two take turns, and the median of their ratios counts. Returns False if a bound is missed."""
    print("| text | bytes | scan, ns a byte | json.loads, ns a byte | ratio | bound |\n|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, value in texts().items():
            text = json.dumps(value).encode()
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(text)
            rounds = []
            for _ in range(SCAN_ROUNDS):
                scan = float(subprocess.run([binary, path], check=True, capture_output=True, text=True).stdout)
                loads = loads_per_byte(text)
                rounds.append((scan / loads, scan, loads))
            ratio, scan, loads = sorted(rounds)[SCAN_ROUNDS // 2]
            good = good and ratio <= SCAN_OF_LOADS
            missed = "" if ratio <= SCAN_OF_LOADS else " MISSED"
            print(f"| {name} | {len(text):,} | {scan:.3f} | {loads:.3f} | {ratio:.2f} | {SCAN_OF_LOADS}{missed} |", flush=True)
    print()
    return good


def small_bodies():
    """Returns bodies of about a KiB by name: one long text, a conversation, and the same with its model behind the rest."""
    chance = random.Random(1)

    def text(size):
        words = "the of and to in is that for it with as was on be by this are from at which or an have not".split()
        return " ".join(chance.choice(words) for _ in range(size // 4))[:size].strip()

    messages = [{"role": role, "content": text(size)} for role, size in (("system", 180), ("user", 290), ("assistant", 150))]
    messages.append({"role": "user", "content": 'He said "no".\n' + text(120)})
    rest = {"temperature": 0.7, "max_tokens": 256, "stream": True, "messages": messages}
    return {
        "prompt": {"model": "gpt-4o", "prompt": text(970), "max_tokens": 256},
        "conversation": {"model": "gpt-4o", **rest},
        "model last": {**rest, "model": "gpt-4o"},
    }


def count_expressions(binary):
    """Prints a row for each body. Returns False if the bound is missed."""
    print("| body | bytes | instructions | bound |\n|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, value in small_bodies().items():
            body, out = os.path.join(folder, "body"), os.path.join(folder, "callgrind.out")
            text = json.dumps(value)
            with open(body, "w", encoding="utf-8") as file:
                file.write(text)
            command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*evaluateAll*",
                       f"--callgrind-out-file={out}", binary, EXPRESSION, body]
            times = int(subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout)
            with open(out, encoding="utf-8") as file:
                count = int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1]) / times
            good = good and count <= OF_EXPRESSION
            print(f"| {name} | {len(text):,} | {count:,.0f} | {OF_EXPRESSION:,}{'' if count <= OF_EXPRESSION else ' MISSED'} |", flush=True)
    print()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.path.join(load.HERE, "../build/release/sluice"))
    parser.add_argument("--baseline", help="the program of another commit, to compare a route without processors")
    parser.add_argument("--nginx", default=shutil.which("nginx") or "/usr/sbin/nginx")
    parser.add_argument("--scanner", default=os.path.join(load.HERE, "../build/release/json_scan"))
    parser.add_argument("--scans-only", action="store_true", help="nothing that needs valgrind")
    parser.add_argument("--expression", default=os.path.join(load.HERE, "../build/release/expression"))
    parser.add_argument("--expressions-only", action="store_true", help="the instructions of an expression alone")
    parser.add_argument("--external", action="store_true", help="external processors alone, beside HAProxy's")
    parser.add_argument("--servers", default=os.path.join(load.HERE, "../build/release"), help="folder of sluice-ext-proc and sluice-spoa")
    parser.add_argument("--repeats", type=int, default=7, help="of --external")
    parser.add_argument("--verbose", action="store_true", help="shows the figures of --external that the ratios are made of")
    options = parser.parse_args()
    if options.external:
        external.compare(options, figures_of)
        return 0
    good = options.expressions_only or not os.path.exists(options.scanner) or compare_scans(options.scanner)
    if options.scans_only:
        return 0 if good else 1
    good = (not os.path.exists(options.expression) or count_expressions(options.expression)) and good
    if options.expressions_only:
        return 0 if good else 1
    run = load.PROXIES["sluice"][1]
    load.SCENARIOS.update(SCENARIOS)
    load.PROXIES.update({f"sluice-{count}-steps": (with_steps(count), run) for count in MORE_BY_STEPS})
    load.PROXIES["sluice-lua"] = (with_engine(LUA_ENGINE), run)
    load.PROXIES["sluice-baseline"] = (load.SLUICE, lambda o, file: [o.baseline, *run(o, file)[1:]])

    bench = load.Bench(options)
    build_library(bench.dir)
    load.PROXIES["sluice-set"] = (load.SLUICE + PROCESSORS.format(steps=SET.format()), run)
    load.PROXIES["sluice-library"] = (with_engine(LIBRARY_ENGINE), lambda o, file: [*run(o, file), "--library-dir", bench.dir])
    try:
        print("| | | instructions per request | more | bound | allocations more |\n|---|---|---|---|---|---|")
        for scenario in SCENARIOS:
            none, allocated = figures_of(bench, "sluice", scenario)
            rows = [("no processors", none, None, None, None)]
            if options.baseline:
                before, _ = figures_of(bench, "sluice-baseline", scenario)
                rows = [("the baseline, no processors", before, None, None, None),
                        ("no processors", none, none - before, MORE_THAN_BASELINE, None)]
            for number, bound in MORE_BY_STEPS.items():
                steps, by_steps = figures_of(bench, f"sluice-{number}-steps", scenario)
                rows.append((f"{number} steps", steps, steps - none, bound, by_steps - allocated))
            script, by_script = figures_of(bench, "sluice-lua", scenario)
            rows.append(("a script in Lua that edits a field", script, script - none, LUA_BOUND, by_script - allocated))
            builtin, by_builtin = figures_of(bench, "sluice-set", scenario)
            rows.append(("a built-in step that edits it", builtin, builtin - none, None, by_builtin - allocated))
            library, by_library = figures_of(bench, "sluice-library", scenario)
            rows.append(("a library that edits it, beyond the built-in step", library, library - builtin, LIBRARY_BOUND,
                         by_library - by_builtin))
            for title, count, more, bound, allocations in rows:
                met = (bound is None or more <= bound) and (allocations is None or allocations < 0.01)
                good = good and met
                cells = ["" if more is None else f"{more:,.0f}", "" if bound is None else f"{bound:,}" + ("" if met else " MISSED"),
                         "" if allocations is None else f"{max(0, allocations):.2f}"]
                print(f"| {scenario} | {title} | {count:,.0f} | {' | '.join(cells)} |", flush=True)
    finally:
        bench.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
