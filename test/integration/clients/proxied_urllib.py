"""Python's urllib, which finds the proxy in its environment: proxied_urllib.py ORIGIN_URL... The origins are sluice-echo."""
import json
import os
import ssl
import sys
import urllib.error
import urllib.request

context = ssl.create_default_context()  # SSL_CERT_FILE
for origin in sys.argv[1:]:
    with urllib.request.urlopen(f"{origin}/a/b?c=d", timeout=20, context=context) as answer:
        seen = json.load(answer)
    assert seen["target"] == "/a/b?c=d", seen
    body = os.urandom(1_000_000)
    with urllib.request.urlopen(f"{origin}/echo", data=body, timeout=20, context=context) as answer:
        assert answer.read() == body
    try:
        urllib.request.urlopen(f"{origin}/status/404", timeout=20, context=context)
        raise AssertionError("404 is an error")
    except urllib.error.HTTPError as error:
        assert error.code == 404, error
