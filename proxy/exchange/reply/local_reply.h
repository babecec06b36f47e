// The gateway's own answers: application/problem+json (RFC 9457), or trailers-only for gRPC.
#pragma once

#include "proxy/base/error.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// The head of the answer, views in `arena`; its body is put into `pipe`, which is then complete. HEAD gets no body.
/// Who is told 415 does not speak gRPC, whatever it says, and is not to take a 200 for success (gRPC over HTTP/2,
/// "Content-Type").
http::ResponseHead localReply(base::Arena& arena, http::BodyPipe& pipe, const http::RequestHead& request,
                              const base::Error& error);

/// RFC 9110 section 15: the reason phrase of a status that the gateway answers itself.
std::string_view statusTitle(std::uint16_t status);
/// gRPC is defined over HTTP/2 alone, so its Content-Type means nothing in HTTP/1.x: there it neither buys the patience
/// that a streaming call gets, nor an answer in gRPC's terms.
bool speaksGrpc(const http::RequestHead& request);

}  // namespace sluice::exchange
