"""The library requests, which finds the proxy in its environment: proxied_requests.py ORIGIN_URL... The origins are sluice-echo."""
import os
import sys

import requests

with requests.Session() as session:  # REQUESTS_CA_BUNDLE
    for origin in sys.argv[1:]:
        answer = session.get(f"{origin}/a/b?c=d", timeout=20)
        assert answer.status_code == 200, answer.text
        assert answer.json()["target"] == "/a/b?c=d", answer.text
        body = os.urandom(1_000_000)
        assert session.post(f"{origin}/echo", data=body, timeout=20).content == body
        pieces = iter([body[:10], body[10:500_000], body[500_000:]])
        assert session.post(f"{origin}/echo", data=pieces, timeout=20).content == body, "a body without a length"
        assert session.get(f"{origin}/status/404", timeout=20).status_code == 404
