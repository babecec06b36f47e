"""The garbage collector: what has owners goes when none of them is there any more, in the background."""
from api import ApiError
from deployments import is_ending

OWNERS = ("gateways", "deployments", "services", "pods", "clusterroles")


class Garbage:
    def __init__(self, api, mirrors):
        self.api, self.mirrors = api, mirrors
        self.owners = {mirrors[plural].kind.name: mirrors[plural] for plural in OWNERS}

    async def reconcile(self):
        for mirror in self.mirrors.values():
            for item in mirror.all():
                owners = item["metadata"].get("ownerReferences", [])
                if owners and not is_ending(item) and await self.all_gone(item, owners):
                    await self.delete(mirror, item)

    async def all_gone(self, item, owners):
        for owner in owners:
            mirror = self.owners.get(owner["kind"])
            if mirror is None or not mirror.listed.is_set() or mirror.find(owner["uid"]) is not None:
                return False
            if not await self.is_gone(mirror.kind.path(item["metadata"].get("namespace"), owner["name"]), owner["uid"]):
                return False
        return True

    async def is_gone(self, path, uid):
        """Asks the server itself, since a mirror may not have heard of an owner that is new."""
        try:
            return (await self.api.send("GET", path))["metadata"]["uid"] != uid
        except ApiError as error:
            if error.status != 404:
                raise
            return True

    async def delete(self, mirror, item):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": item["metadata"]["uid"]}}
        try:
            await self.api.send("DELETE", mirror.kind.path_of(item), body)
        except ApiError as error:
            if error.status not in (404, 409):
                raise
        if not item["metadata"].get("finalizers"):
            mirror.forget(item["metadata"]["uid"])
