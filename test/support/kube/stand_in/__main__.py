"""Stands in for what kapi lacks of a cluster: the controllers of Deployments, EndpointSlices and owners, and a kubelet.

    python3 test/support/kube/stand_in --kubeconfig FILE --bridge NAME --folder DIR --image NAME=PROGRAM ...

acts as the administrator of FILE, as kapi writes it. A Pod is a process of this machine, in a network namespace whose link is a port of the
bridge NAME, which is there before, with an address; the API server must be reachable from the bridge. Needs root. An image is a program;
one that no --image names cannot be pulled. DIR gets the log of each Pod. Prints "ready" when it has begun, and runs until SIGTERM, or until
whoever has started it is gone; then it ends the Pods' processes, and removes their networks.
"""
import argparse
import asyncio
import ctypes
import ipaddress
import json
import os
import signal
import subprocess
import sys

from api import PAUSE, Api, ApiError, Kind, Mirror
from deployments import Deployments
from endpoints import Endpoints
from garbage import Garbage
from kubelet import Kubelet

PR_SET_PDEATHSIG = 1
KINDS = [
    Kind("gateway.networking.k8s.io/v1", "Gateway", "gateways"),
    Kind("apps/v1", "Deployment", "deployments"),
    Kind("v1", "Service", "services"),
    Kind("v1", "Pod", "pods"),
    Kind("v1", "ServiceAccount", "serviceaccounts"),
    Kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    Kind("coordination.k8s.io/v1", "Lease", "leases"),
    Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    Kind("sluice.dev/v1alpha1", "EgressRevision", "egressrevisions"),
    Kind("rbac.authorization.k8s.io/v1", "Role", "roles"),
    Kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    Kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", namespaced=False),
    Kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--bridge", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--image", action="append", default=[], metavar="NAME=PROGRAM")
    return parser.parse_args()


def address_of(bridge):
    answer = subprocess.run(["ip", "-json", "-4", "address", "show", "dev", bridge], check=True, stdout=subprocess.PIPE).stdout
    address = json.loads(answer)[0]["addr_info"][0]
    return ipaddress.ip_interface(f"{address['local']}/{address['prefixlen']}")


class Cluster:
    def __init__(self, options):
        loop = asyncio.get_running_loop()
        self.changed, self.stopping = asyncio.Event(), asyncio.Event()
        api = Api(options.kubeconfig)
        self.mirrors = {kind.plural: Mirror(api, kind, lambda: loop.call_soon_threadsafe(self.changed.set)) for kind in KINDS}
        images = dict(each.split("=", 1) for each in options.image)
        self.kubelet = Kubelet(api, self.mirrors, images, options.bridge, address_of(options.bridge), options.folder)
        self.controllers = [Deployments(api, self.mirrors, self.changed.set), self.kubelet, Endpoints(api, self.mirrors),
                            Garbage(api, self.mirrors)]
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)

    def stop(self):
        self.stopping.set()
        self.changed.set()

    async def run(self):
        for plural in ("deployments", "pods", "services", "endpointslices"):
            await asyncio.to_thread(self.mirrors[plural].listed.wait)
        print("ready", flush=True)
        while not self.stopping.is_set():
            await self.changed.wait()
            self.changed.clear()
            for controller in self.controllers:
                try:
                    await controller.reconcile()
                except (ApiError, OSError) as error:
                    print(f"{type(controller).__name__}: {error}", file=sys.stderr, flush=True)
                    asyncio.get_running_loop().call_later(PAUSE, self.changed.set)
        await self.kubelet.stop()


async def main():
    await Cluster(arguments()).run()


ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
asyncio.run(main())
# Threads that follow objects wait for the server, and hold nothing that has to be given back.
sys.stdout.flush()
os._exit(0)
