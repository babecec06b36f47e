"""The Deployment controller: Pods directly from Deployments, without ReplicaSets between them."""
import hashlib
import json
import random

from api import ApiError, owner_of

HASH_LABEL = "pod-template-hash"
# kapi has no graceful deletion, so a finalizer keeps a Pod that is deleted until its processes have ended.
FINALIZER = "stand-in.sluice.test/ends-processes"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


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


class Deployments:
    def __init__(self, api, mirrors):
        self.api, self.deployments, self.pods = api, mirrors["deployments"], mirrors["pods"]

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
        for _ in range(min(wanted - len(current), wanted + surge - len(pods))):
            await self.create(deployment, current_hash)
        current.sort(key=lambda pod: (is_ready(pod), pod["metadata"]["creationTimestamp"]))
        leaving = current[:max(0, len(current) - wanted)]
        for pod in leaving + self.replaced(current, old, wanted - unavailable):
            await self.delete(pod)
        await self.write_status(deployment, pods, current)

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

    async def write_status(self, deployment, pods, current):
        ready = sum(is_ready(pod) for pod in pods)
        wanted = deployment["spec"]["replicas"]
        status = {"observedGeneration": deployment["metadata"]["generation"], "replicas": len(pods), "updatedReplicas": len(current),
                  "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": max(0, wanted - ready)}
        before = deployment.get("status", {})
        if all(before.get(key, 0) == value for key, value in status.items()):
            return
        status["conditions"] = [{"type": "Available", "status": "True" if ready >= wanted else "False", "reason": "PodsOfTheDeployment"}]
        path = self.deployments.kind.path_of(deployment, "status")
        self.deployments.note(await self.api.send("PATCH", path, {"status": status}, "application/merge-patch+json"))
