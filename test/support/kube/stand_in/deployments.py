"""The Deployment controller: Pods directly from Deployments, without ReplicaSets between them."""
import asyncio
import hashlib
import json
import random

from api import ApiError, owner_of

HASH_LABEL = "pod-template-hash"
# kapi has no graceful deletion, so a finalizer keeps a Pod that is deleted until its processes have ended.
FINALIZER = "stand-in.sluice.test/ends-processes"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
PROGRESS_DEADLINE = 600  # seconds, unless a Deployment says otherwise
TRY_AGAIN_AFTER = 2  # seconds until a Pod that the API server has refused is tried again


def template_hash(deployment):
    text = json.dumps(deployment["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def is_ready(pod):
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def is_ending(item):
    return "deletionTimestamp" in item["metadata"]


def resolved(value, wanted, rounds_up):
    """Returns a number of Pods that is written as a number or as a percentage."""
    if not isinstance(value, str):
        return value
    share = int(value.rstrip("%")) * wanted
    return -(-share // 100) if rounds_up else share // 100


class Rollout:
    """How one Deployment gets on."""

    def __init__(self, wake):
        self.wake, self.timer = wake, None
        self.seen = None  # its generation and numbers of Pods, which change with each step
        self.until = 0.0  # when the next step is late
        self.done = None  # the hash of the template that was rolled out last
        self.refusal = None  # why the API server takes no Pod

    def note(self, seen, is_done, deadline):
        """Takes its present state; `wake` is called when the next step is late."""
        loop = asyncio.get_running_loop()
        if seen != self.seen:
            self.seen, self.until = seen, loop.time() + deadline
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None if is_done or self.is_late() else loop.call_at(self.until, self.wake)

    def is_late(self):
        return asyncio.get_running_loop().time() >= self.until

    def conditions(self, deployment, is_done, ready):
        """Returns the conditions as the real controller writes them."""
        wanted = deployment["spec"]["replicas"]
        if is_done:
            progressing = ("True", "NewReplicaSetAvailable", "")
        elif self.is_late():
            progressing = ("False", "ProgressDeadlineExceeded", f"Deployment {deployment['metadata']['name']!r} has timed out progressing.")
        else:
            progressing = ("True", "ReplicaSetUpdated", "")
        enough = ready >= wanted
        found = [("Available", str(enough), "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable", ""),
                 ("Progressing", *progressing)]
        if self.refusal is not None:
            found.append(("ReplicaFailure", "True", "FailedCreate", self.refusal))
        return [{"type": type_, "status": status, "reason": reason, "message": message} for type_, status, reason, message in found]


class Deployments:
    def __init__(self, api, mirrors, wake):
        """`wake` has reconcile() called again."""
        self.api, self.deployments, self.pods, self.wake = api, mirrors["deployments"], mirrors["pods"], wake
        self.rollouts = {}  # by the uid of the Deployment

    async def reconcile(self):
        for deployment in self.deployments.all():
            if not is_ending(deployment):
                await self.reconcile_one(deployment)

    async def reconcile_one(self, deployment):
        uid, current_hash = deployment["metadata"]["uid"], template_hash(deployment)
        pods = [pod for pod in self.pods.all() if owner_of(pod, "Deployment", uid) and not is_ending(pod)]
        current = [pod for pod in pods if pod["metadata"]["labels"].get(HASH_LABEL) == current_hash]
        old = [pod for pod in pods if pod["metadata"]["labels"].get(HASH_LABEL) != current_hash]
        wanted = deployment["spec"]["replicas"]
        rolling = deployment["spec"]["strategy"].get("rollingUpdate", {})
        surge = resolved(rolling.get("maxSurge", 0), wanted, True)
        unavailable = resolved(rolling.get("maxUnavailable", 0), wanted, False)
        rollout = self.rollouts.setdefault(uid, Rollout(self.wake))
        await self.create_all(deployment, current_hash, min(wanted - len(current), wanted + surge - len(pods)), rollout)
        current.sort(key=lambda pod: (is_ready(pod), pod["metadata"]["creationTimestamp"]))
        leaving = current[:max(0, len(current) - wanted)]
        for pod in leaving + self.replaced(current, old, wanted - unavailable):
            await self.delete(pod)
        await self.write_status(deployment, pods, current, rollout)

    async def create_all(self, deployment, current_hash, count, rollout):
        """Creates Pods, until the API server refuses one. The first refusal is the one that is reported."""
        try:
            for _ in range(count):
                await self.create(deployment, current_hash)
            rollout.refusal = None
        except ApiError as error:
            if error.status not in (403, 422):
                raise
            rollout.refusal = rollout.refusal or error.message
            asyncio.get_running_loop().call_later(TRY_AGAIN_AFTER, self.wake)

    @staticmethod
    def replaced(current, old, least):
        """Returns the old Pods that may go: first those that are not ready, and as long as `least` are ready without them."""
        waiting = sum(not is_ready(pod) for pod in current)
        may_go = len(current) + len(old) - least - waiting
        broken = [pod for pod in old if not is_ready(pod)][:max(0, may_go)]
        ready = [pod for pod in old if is_ready(pod)]
        spare = sum(is_ready(pod) for pod in current) + len(ready) - least
        return broken + ready[:max(0, min(spare, may_go - len(broken)))]

    async def create(self, deployment, current_hash):
        template, metadata = deployment["spec"]["template"], deployment["metadata"]
        suffix = "".join(random.choices(LETTERS, k=5))
        pod = {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": f"{metadata['name']}-{current_hash}-{suffix}", "namespace": metadata["namespace"],
                "labels": {**template["metadata"].get("labels", {}), HASH_LABEL: current_hash},
                "annotations": template["metadata"].get("annotations", {}),
                "finalizers": [FINALIZER],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"], "uid": metadata["uid"],
                                     "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": {**template["spec"], "nodeName": "stand-in"},
        }
        self.pods.note(await self.api.send("POST", self.pods.kind.path(metadata["namespace"]), pod))

    async def delete(self, pod):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": pod["metadata"]["uid"]}}
        try:
            self.pods.note(await self.api.send("DELETE", self.pods.kind.path_of(pod), body))
        except ApiError as error:
            if error.status != 404:
                raise

    async def write_status(self, deployment, pods, current, rollout):
        ready, wanted = sum(is_ready(pod) for pod in pods), deployment["spec"]["replicas"]
        status = {"observedGeneration": deployment["metadata"]["generation"], "replicas": len(pods), "updatedReplicas": len(current),
                  "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": max(0, wanted - ready)}
        if len(pods) == len(current) == ready == wanted:
            rollout.done = template_hash(deployment)
        is_done = rollout.done == template_hash(deployment)  # Pods that end later do not change that
        rollout.note((status["observedGeneration"], len(pods), len(current), ready), is_done,
                     deployment["spec"].get("progressDeadlineSeconds", PROGRESS_DEADLINE))
        status["conditions"] = rollout.conditions(deployment, is_done, ready)
        before = deployment.get("status", {})
        if all(before.get(key, 0) == value for key, value in status.items()):
            return
        path = self.deployments.kind.path_of(deployment, "status")
        self.deployments.note(await self.api.send("PATCH", path, {"status": status}, "application/merge-patch+json"))
