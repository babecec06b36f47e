"""The kubelet of the only node: runs the Pods, and says in their statuses how they are."""
import asyncio
import contextlib
import shutil
import signal
import sys
from datetime import datetime, timezone

from api import PAUSE, ApiError
from deployments import FINALIZER, is_ending
from probes import Probe
from sandbox import Network, Sandbox

FIRST_BACKOFF, LONGEST_BACKOFF = 1, 10  # seconds until a container that ended is started again; shorter than in a cluster


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class RunningPod:
    """One Pod from its start until its finalizer is removed."""

    def __init__(self, kubelet, pod):
        self.kubelet, self.pod = kubelet, pod
        self.spec, self.metadata = pod["spec"], pod["metadata"]
        self.container = self.spec["containers"][0]
        self.ending = asyncio.Event()  # somebody has deleted the Pod
        self.network = self.sandbox = self.process = None
        self.ready, self.restarts, self.state = False, 0, {"waiting": {"reason": "ContainerCreating"}}
        self.task = asyncio.create_task(self.run())

    async def run(self):
        try:
            await self.live()
        except Exception as error:  # one Pod that cannot be run stops no other one
            print(f"pod {self.metadata['name']}: {error!r}", file=sys.stderr, flush=True)
            await self.ending.wait()
        finally:
            if self.process is not None and self.process.returncode is None:
                self.signal(signal.SIGKILL)
        await self.remove()

    async def live(self):
        program = self.kubelet.images.get(self.container["image"])
        if program is None:
            self.state = {"waiting": {"reason": "ImagePullBackOff", "message": f"there is no image {self.container['image']}"}}
            await self.write_status()
            await self.ending.wait()
        elif await self.prepare():
            await self.keep_running(program)

    async def prepare(self):
        """Makes all that the container needs; returns False if the Pod was deleted first."""
        while not self.ending.is_set():
            try:
                token = await self.kubelet.token_of(self.pod)
                break
            except ApiError:
                await asyncio.sleep(PAUSE)  # the ServiceAccount may come later than the Pod
        else:
            return False
        sysctls = {each["name"]: each["value"] for each in self.spec.get("securityContext", {}).get("sysctls", [])}
        self.network = await asyncio.to_thread(self.kubelet.make_network, sysctls)
        self.sandbox = Sandbox(self.pod, self.kubelet.folder, self.network)
        self.sandbox.write_account({"token": token, "ca.crt": self.kubelet.authority, "namespace": self.metadata["namespace"]})
        return True

    async def keep_running(self, program):
        backoff = 0
        while not self.ending.is_set():
            self.process = await self.sandbox.start(program, self.kubelet.api)
            self.state = {"running": {"startedAt": now()}}
            await self.write_status()
            await self.run_once()
            self.ready = False
            if self.ending.is_set():
                return
            self.restarts += 1
            self.state = {"waiting": {"reason": "CrashLoopBackOff", "message": f"the exit code was {self.process.returncode}"}}
            await self.write_status()
            await self.wait_for(self.ending.wait(), backoff)
            backoff = min(max(FIRST_BACKOFF, 2 * backoff), LONGEST_BACKOFF)

    async def run_once(self):
        """Returns when the process has ended, by itself, by its liveness probe, or because the Pod was deleted."""
        probing = asyncio.create_task(self.probe())
        ended = asyncio.create_task(self.process.wait())
        deleted = asyncio.create_task(self.ending.wait())
        try:
            done, _ = await asyncio.wait([ended, deleted, probing], return_when=asyncio.FIRST_COMPLETED)
            if ended not in done:
                await self.stop_process()
        finally:
            for task in (probing, ended, deleted):
                task.cancel()

    async def stop_process(self):
        """Ends the process as the Pod says: preStop, SIGTERM, and SIGKILL when the time of grace is over."""
        until = asyncio.get_running_loop().time() + self.spec["terminationGracePeriodSeconds"]
        pause = self.container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        if not await self.wait_for(self.process.wait(), pause):
            self.signal(signal.SIGTERM)
            if not await self.wait_for(self.process.wait(), until - asyncio.get_running_loop().time()):
                self.signal(signal.SIGKILL)
        await self.process.wait()

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            self.process.send_signal(number)

    @staticmethod
    async def wait_for(event, seconds):
        try:
            await asyncio.wait_for(event, max(0, seconds))
            return True
        except asyncio.TimeoutError:
            return False

    async def probe(self):
        """Says whether the container is ready, for as long as it runs; returns when it has to be started again."""
        startup = Probe.of(self.container, "startupProbe", self.network.address)
        if startup is not None and not await startup.until(True):
            return
        alive = Probe.of(self.container, "livenessProbe", self.network.address)
        readiness = asyncio.create_task(self.probe_readiness())
        try:
            await (alive.until(False) if alive is not None else asyncio.Event().wait())
        finally:
            readiness.cancel()

    async def probe_readiness(self):
        probe = Probe.of(self.container, "readinessProbe", self.network.address)
        if probe is None:
            self.ready = True
            return await self.write_status()
        async for ready in probe.changes():
            self.ready = ready
            await self.write_status()

    async def write_status(self):
        ready = "True" if self.ready else "False"
        status = {
            "phase": "Running" if self.network is not None else "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "ContainersReady", "status": ready},
                           {"type": "Ready", "status": ready}],
            "containerStatuses": [{
                "name": self.container["name"], "image": self.container["image"], "imageID": self.container["image"], "ready": self.ready,
                "restartCount": self.restarts, "state": self.state,
                **({"containerID": f"process://{self.process.pid}"} if self.process is not None else {})}],
        }
        if self.network is not None:
            status.update(podIP=self.network.address, podIPs=[{"ip": self.network.address}], hostIP=str(self.kubelet.gateway.ip))
        await self.kubelet.patch(self.pod, {"status": status}, "status")

    async def remove(self):
        if self.network is not None:
            await asyncio.to_thread(self.network.remove)
            self.network = None
            shutil.rmtree(self.sandbox.folder)
        finalizers = [each for each in self.metadata.get("finalizers", []) if each != FINALIZER]
        await self.kubelet.patch(self.pod, {"metadata": {"finalizers": finalizers}})
        self.kubelet.pods.forget(self.metadata["uid"])


class Kubelet:
    def __init__(self, api, mirrors, images, bridge, gateway, folder):
        self.api, self.pods, self.accounts = api, mirrors["pods"], mirrors["serviceaccounts"]
        self.images, self.bridge, self.gateway, self.folder = images, bridge, gateway, folder
        with open(api.ca_file, encoding="utf-8") as file:
            self.authority = file.read()
        self.addresses = (str(each) for each in gateway.network.hosts() if each != gateway.ip)
        self.running = {}

    async def reconcile(self):
        for pod in self.pods.all():
            if pod["spec"].get("nodeName") != "stand-in":
                continue
            uid = pod["metadata"]["uid"]
            if uid not in self.running:
                self.running[uid] = RunningPod(self, pod)
            if is_ending(pod):
                self.running[uid].ending.set()

    async def stop(self):
        """Ends all processes, and removes all networks."""
        for each in self.running.values():
            each.task.cancel()
        await asyncio.gather(*(each.task for each in self.running.values()), return_exceptions=True)
        for each in self.running.values():
            if each.process is not None:
                await each.process.wait()
            if each.network is not None:
                each.network.remove()

    def make_network(self, sysctls):
        return Network(self.bridge, next(self.addresses), self.gateway, sysctls)

    async def token_of(self, pod):
        path = self.accounts.kind.path(pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName", "default"), "token")
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        return (await self.api.send("POST", path, body))["status"]["token"]

    async def patch(self, pod, change, subresource=None):
        """Writes a part of a Pod, again and again until the server has it; a Pod that is gone takes no more."""
        while True:
            try:
                path = self.pods.kind.path_of(pod, subresource)
                self.pods.note(await self.api.send("PATCH", path, change, "application/merge-patch+json"))
                return
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.status == 404:
                    return
                print(f"pod {pod['metadata']['name']}: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(PAUSE)
