"""Requests to the API server as its administrator, by a kubeconfig as kapi writes it, and mirrors of the objects of a kind."""
import asyncio
import http.client
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 30  # seconds until a request is given up
PAUSE = 0.2  # seconds until something that failed is tried again


class ApiError(Exception):
    def __init__(self, status, request, message):
        super().__init__(f"{status}: {request}: {message}")
        self.status, self.message = status, message


class Api:
    """Any thread; each has a connection of its own."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        url = urllib.parse.urlsplit(self.member(text, "server"))
        self.host, self.port = url.hostname, url.port
        self.ca_file = self.member(text, "certificate-authority")
        self.context = ssl.create_default_context(cafile=self.ca_file)
        self.context.load_cert_chain(self.member(text, "client-certificate"), self.member(text, "client-key"))
        self.local = threading.local()
        self.sender = ThreadPoolExecutor(max_workers=1)  # so that what is written later also arrives later

    @staticmethod
    def member(text, name):
        return re.search(rf"^\s*{name}: (.*)$", text, re.MULTILINE).group(1).strip('" ')

    def connect(self, timeout):
        return http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=timeout)

    def request(self, method, path, body=None, kind="application/json"):
        """Returns the answer's object. Raises an ApiError if the server refuses, and an OSError if it does not answer."""
        fresh = getattr(self.local, "connection", None) is None
        if fresh:
            self.local.connection = self.connect(PATIENCE)
        try:
            self.local.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
            answer = self.local.connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.local.connection.close()
            self.local.connection = None
            if fresh:
                raise OSError(f"{method} {path}: {error}") from error
            return self.request(method, path, body, kind)  # the server may close a connection that was idle
        if status >= 300:
            raise ApiError(status, f"{method} {path}", self.reason_in(text))
        return json.loads(text)

    @staticmethod
    def reason_in(text):
        """Returns the message of a refusal."""
        try:
            return json.loads(text)["message"]
        except (ValueError, KeyError, TypeError):
            return text.decode(errors="replace")[:500]

    async def send(self, method, path, body=None, kind="application/json"):
        """Is request() for the loop, which goes on meanwhile. The requests are sent one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self.sender, self.request, method, path, body, kind)


class Kind:
    """A kind of objects, which all have a namespace unless `namespaced` is False."""

    def __init__(self, group_version, name, plural, namespaced=True):
        self.api_version, self.name, self.plural, self.namespaced = group_version, name, plural, namespaced
        self.root = ("/apis/" if "/" in group_version else "/api/") + group_version

    def path(self, namespace=None, name=None, subresource=None):
        path = self.root + (f"/namespaces/{namespace}" if namespace and self.namespaced else "") + "/" + self.plural
        return path + (f"/{name}" if name else "") + (f"/{subresource}" if subresource else "")

    def path_of(self, item, subresource=None):
        return self.path(item["metadata"].get("namespace"), item["metadata"]["name"], subresource)


def owner_of(item, kind, uid):
    return any(each["kind"] == kind and each["uid"] == uid for each in item["metadata"].get("ownerReferences", []))


class Mirror:
    """The objects of a kind, as a thread of their own follows them, and as this program has written them since."""

    def __init__(self, api, kind, on_change):
        self.api, self.kind, self.on_change = api, kind, on_change
        self.lock = threading.Lock()
        self.by_uid = {}
        self.gone = set()  # the UIDs of objects that were deleted: late news of them bring none back
        self.listed = threading.Event()
        threading.Thread(target=self.follow, daemon=True).start()

    def all(self):
        with self.lock:
            return list(self.by_uid.values())

    def find(self, uid):
        with self.lock:
            return self.by_uid.get(uid)

    def note(self, item):
        """Takes a version of an object, unless a newer one is known."""
        uid = item["metadata"]["uid"]
        with self.lock:
            known = self.by_uid.get(uid)
            newer = known is None or int(known["metadata"]["resourceVersion"]) < int(item["metadata"]["resourceVersion"])
            if uid not in self.gone and newer:
                self.by_uid[uid] = item
        self.on_change()
        return item

    def forget(self, uid):
        with self.lock:
            self.gone.add(uid)
            self.by_uid.pop(uid, None)
        self.on_change()

    def follow(self):
        while True:
            try:
                self.watch(self.list())
            except ApiError as error:
                if error.status not in (404, 410):  # the kind is not installed yet, or the version is too old
                    print(f"{self.kind.plural}: {error}", file=sys.stderr, flush=True)
            except (OSError, http.client.HTTPException, ValueError):
                pass  # the server is away
            time.sleep(PAUSE)

    def list(self):
        answer = self.api.request("GET", self.kind.path())
        version = answer["metadata"]["resourceVersion"]
        there = {item["metadata"]["uid"] for item in answer["items"]}
        for item in self.all():  # one that is newer than the list has not gone
            if item["metadata"]["uid"] not in there and int(item["metadata"]["resourceVersion"]) <= int(version):
                self.forget(item["metadata"]["uid"])
        for item in answer["items"]:
            self.note(item)
        self.listed.set()
        self.on_change()
        return version

    def watch(self, version):
        connection = self.api.connect(None)
        try:
            path = f"{self.kind.path()}?watch=true&resourceVersion={version}"
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ApiError(answer.status, f"GET {path}", answer.read().decode(errors="replace")[:500])
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 0), f"GET {path}", event["object"].get("message", ""))
                if event["type"] == "DELETED":
                    self.forget(event["object"]["metadata"]["uid"])
                else:
                    self.note(event["object"])
        finally:
            connection.close()
