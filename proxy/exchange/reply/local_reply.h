// A local reply is made by the gateway itself: application/problem+json (RFC 9457), or trailers-only for gRPC. A step
// may have a body of its own in it.
#pragma once

#include <string_view>

#include "proxy/base/error.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/processing/verdict.h"

namespace sluice::exchange {

/// The contents of a local reply.
struct LocalReplyParts {
  const http::RequestHead& request;
  const base::Error& error;
  std::string_view requestId = {};            // empty if requests have none
  const processing::Reply* ofStep = nullptr;  // a step's reply, whose body replaces the document about the error
  std::string_view backend = {};              // "Backend demo/api", to be told beside the detail; empty: not told
};

/// Returns the head of the reply, with views into `arena`. Its body is put into `pipe`, which is then complete; HEAD
/// gets no body. The head has no content-type if the body is that of a step, which gives it.
http::ResponseHead localReply(base::Arena& arena, http::BodyPipe& pipe, const LocalReplyParts& reply);

/// Returns the reason phrase of a status of local replies (RFC 9110 section 15).
std::string_view statusTitle(std::uint16_t status);

}  // namespace sluice::exchange
