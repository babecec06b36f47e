#!/usr/bin/env python3
"""Measures what a TrafficPolicy costs, in instructions and allocations per request. See README.md.

Counts with callgrind (valgrind), in the setting of load.py but over one connection, as processors.py does: a route with two Backends of
which the second stands by, without a policy, with one that retries, and with more and more parts. Exit status 1 if the bound is missed.
"""
import argparse
import os
import shutil
import sys

import load
import processors

MORE_BY_POLICY = 600  # instructions per request
SECOND = ", {{group: gateway.networking.k8s.io, kind: Backend, name: standby, port: {up}, weight: 0}}"
STANDBY = """---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {{namespace: load, name: standby}}
spec:
  destination: {{type: FQDN, fqdn: {{hostname: standby.test, port: {up}}}}}
"""
POLICY = """---
apiVersion: sluice.dev/v1alpha1
kind: TrafficPolicy
metadata: {{namespace: load, name: policy}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: origin}}]
"""
RETRY = "  retry: {{codes: [503], attempts: 2}}\n"
FAILOVER = "  failover: {{priorities: [{{backendRef: {{group: gateway.networking.k8s.io, kind: Backend, name: standby}}, priority: 1}}]}}\n"
HEALTH = "  healthCheck: {{passive: {{}}, active: {{type: TCP, interval: 1h}}}}\n"
# Every part, with the settings of each that a request may cost something for.
ALL_HEALTH = HEALTH.replace("{{}}", "{{consecutiveGatewayErrors: 5, failurePercentage: {{threshold: 50}}}}")
CONNECTIONS = """  timeout: {{tcp: {{connectTimeout: 5s}}, http: {{connectionIdleTimeout: 1m, maxConnectionDuration: 1h, requestTimeout: 1m, streamIdleTimeout: 1m}}}}
  tcpKeepalive: {{probes: 3}}
  circuitBreaker: {{maxConnections: 256, maxPendingRequests: 256, maxParallelRequests: 256, maxParallelRetries: 9, maxRequestsPerConnection: 1000000}}
  dns: {{lookupFamily: IPv4}}
"""
VARIANTS = {
    "without a policy": "",
    "retry": POLICY + RETRY,
    "retry, failover, healthCheck": POLICY + RETRY + FAILOVER + HEALTH,
    "every part": POLICY + RETRY + FAILOVER + ALL_HEALTH + CONNECTIONS,
}


def configuration(policy):
    one = "name: origin, port: {up}}}]}}]"
    assert one in load.SLUICE
    return load.SLUICE.replace(one, "name: origin, port: {up}}}" + SECOND + "]}}]") + STANDBY + policy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.path.join(load.HERE, "../build/release/sluice"))
    parser.add_argument("--nginx", default=shutil.which("nginx") or "/usr/sbin/nginx")
    options = parser.parse_args()
    run = load.PROXIES["sluice"][1]
    load.SCENARIOS.update(processors.SCENARIOS)
    load.PROXIES.update({f"sluice-{number}": (configuration(policy), run) for number, policy in enumerate(VARIANTS.values())})
    bench, good = load.Bench(options), True
    try:
        print("| | TrafficPolicy | instructions per request | more | bound | allocations more |\n|---|---|---|---|---|---|")
        for scenario in processors.SCENARIOS:
            none = None
            for number, title in enumerate(VARIANTS):
                count, allocated = processors.figures_of(bench, f"sluice-{number}", scenario)
                if none is None:
                    none = (count, allocated)
                    print(f"| {scenario} | {title} | {count:,.0f} | | | |", flush=True)
                    continue
                more = count - none[0]
                good = good and more <= MORE_BY_POLICY
                missed = "" if more <= MORE_BY_POLICY else " MISSED"
                print(f"| {scenario} | {title} | {count:,.0f} | {more:,.0f} | {MORE_BY_POLICY}{missed} | {max(0, allocated - none[1]):.2f} |", flush=True)
    finally:
        bench.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
