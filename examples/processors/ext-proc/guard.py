#!/usr/bin/python3
"""A guard of prompts, as an external processor: guard.py PORT. It tells the Backend that it was there, refuses prompts with keys in them,
sends confidential ones to a Backend of their own, and masks e-mail addresses in all others."""
import asyncio
import json
import re
import sys

import grpc
from ext_proc_pb2 import ProcessingRequest, ProcessingResponse

OVERWRITE = 2  # append_action: the field gets this one value


def judge(text, answer):
    """Puts into `answer` what becomes of a request with this body."""
    request = json.loads(text)
    changes = answer.request_body.response
    if re.search(r"\bsk-\w{8}", request["prompt"]):
        answer.immediate_response.status.code = 403
        answer.immediate_response.body = b"the prompt has a key in it\n"
    elif request.get("confidential"):
        changes.header_mutation.set_headers.add(header={"key": "x-destination", "raw_value": b"private"}, append_action=OVERWRITE)
        changes.clear_route_cache = True
    else:
        request["prompt"] = re.sub(r"[\w.+-]+@[\w.-]+\w", "[e-mail]", request["prompt"])
        changes.body_mutation.body = json.dumps(request).encode()


async def process(parts, _):
    """Is called for each request; answers its parts one after the other."""
    async for said in parts:
        part, answer = said.WhichOneof("request"), ProcessingResponse()
        getattr(answer, part).SetInParent()  # it goes on as it is
        if part == "request_headers":
            changes = answer.request_headers.response.header_mutation
            changes.set_headers.add(header={"key": "x-guard", "raw_value": b"checked"}, append_action=OVERWRITE)
        elif part == "request_body":
            judge(said.request_body.body, answer)
        yield answer


async def main():
    server = grpc.aio.server()
    method = grpc.stream_stream_rpc_method_handler(process, ProcessingRequest.FromString, ProcessingResponse.SerializeToString)
    service = grpc.method_handlers_generic_handler("envoy.service.ext_proc.v3.ExternalProcessor", {"Process": method})
    server.add_generic_rpc_handlers([service])
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    await server.start()
    await server.wait_for_termination()


asyncio.run(main())
