"""The EndpointSlice controller: one slice of IPv4 addresses for each Service that has a selector."""
from api import ApiError, owner_of
from deployments import is_ending, is_ready


class Endpoints:
    def __init__(self, api, mirrors):
        self.api, self.services, self.pods, self.slices = api, mirrors["services"], mirrors["pods"], mirrors["endpointslices"]

    async def reconcile(self):
        for service in self.services.all():
            if service["spec"].get("selector") and not is_ending(service):
                await self.write(service)

    def pods_of(self, service):
        selector = service["spec"]["selector"].items()
        pods = [pod for pod in self.pods.all() if pod["metadata"]["namespace"] == service["metadata"]["namespace"] and
                selector <= pod["metadata"].get("labels", {}).items() and pod.get("status", {}).get("podIP")]
        return sorted(pods, key=lambda pod: pod["metadata"]["name"])

    @staticmethod
    def port_of(port, pods):
        """Returns a port of the slice; a name stands for a port of the Pods' container."""
        number = port["targetPort"]
        if isinstance(number, str):
            ports = pods[0]["spec"]["containers"][0].get("ports", []) if pods else []
            number = next((each["containerPort"] for each in ports if each.get("name") == number), None)
        return {"name": port.get("name", ""), "protocol": port["protocol"], **({"port": number} if number else {})}

    @staticmethod
    def endpoint_of(pod):
        ready, ending, metadata = is_ready(pod), is_ending(pod), pod["metadata"]
        return {"addresses": [pod["status"]["podIP"]],
                "conditions": {"ready": ready and not ending, "serving": ready, "terminating": ending},
                "nodeName": pod["spec"]["nodeName"],
                "targetRef": {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}}

    async def write(self, service):
        metadata, pods = service["metadata"], self.pods_of(service)
        content = {"addressType": "IPv4", "ports": [self.port_of(port, pods) for port in service["spec"]["ports"]],
                   "endpoints": [self.endpoint_of(pod) for pod in pods]}
        there = next((each for each in self.slices.all() if owner_of(each, "Service", metadata["uid"])), None)
        if there is None:
            content["metadata"] = {
                "name": f"{metadata['name']}-{metadata['uid'][:5]}", "namespace": metadata["namespace"],
                "labels": {"kubernetes.io/service-name": metadata["name"],
                           "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": metadata["name"], "uid": metadata["uid"],
                                     "controller": True, "blockOwnerDeletion": True}]}
            await self.send("POST", self.slices.kind.path(metadata["namespace"]), content)
        elif any((there.get(key) or []) != value for key, value in content.items()):
            await self.send("PUT", self.slices.kind.path_of(there), {**content, "metadata": there["metadata"]})

    async def send(self, method, path, content):
        body = {"apiVersion": self.slices.kind.api_version, "kind": self.slices.kind.name, **content}
        try:
            self.slices.note(await self.api.send(method, path, body))
        except ApiError as error:
            if error.status not in (404, 409):  # the Service went, or somebody else wrote: the next round sees that
                raise
