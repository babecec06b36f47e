// Frames and ends a body that payload processors may have changed. Pure functions.
#pragma once

#include <cstddef>
#include <optional>

#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"

namespace sluice::exchange {

/// Ends `pipe`, with the trailers if there are any.
void finishPipe(http::BodyPipe& pipe, std::optional<http::Trailers> trailers);
/// Copies the list of trailers; the bytes stay those of `pipe`.
std::optional<http::Trailers> trailersOf(const http::BodyPipe& pipe);
/// Removes the fields that describe the bytes of a body (RFC 9530, RFC 1864).
void removeDigests(http::Headers& headers);

/// Removes from `trailers` the fields that the head that was sent has already, and their twins. Some servers merge
/// trailers into the head, and a client must not repeat fields behind the body that the gateway has put into the head.
void removeTwinsOf(const http::Headers& sent, http::Headers& trailers);

/// Frames a body that steps have changed and of which all has come: by its length, or by its end if trailers follow. A
/// request or response that had no body and has none now stays so.
template <typename Head>
void frameWhole(Head& head, std::size_t length, bool trailers) {
  removeDigests(head.headers);
  if (length == 0 && head.body == http::Body::kNone) return;
  head.body = trailers ? http::Body::kUntilEnd : http::Body::kLength;
  head.contentLength = {};
  if (head.body == http::Body::kLength) head.contentLength = length;
}

/// Frames a body that steps have changed (`alters`): by its length if all of it is in `pipe`, else by its end.
template <typename Head>
void frame(Head& head, bool alters, const http::BodyPipe& pipe) {
  if (!alters) return;
  const bool whole = pipe.end() == http::PipeEnd::kComplete;
  if (whole) return frameWhole(head, pipe.bytes.size(), pipe.trailers() != nullptr);
  removeDigests(head.headers);
  head.body = http::Body::kUntilEnd;
  head.contentLength = {};
}

}  // namespace sluice::exchange
