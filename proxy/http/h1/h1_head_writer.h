// Writes heads of HTTP/1.x messages. Everything is checked before the first byte is written, so that no value of ours
// or of a processor can begin a line, or a message, of its own.
//
// Framing and hop-by-hop fields come from the arguments alone; such names in `headers` are passed over. Pure functions;
// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/h1/h1_body_reader.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// What is said about the connection; kSilent is what the version means by default.
enum class H1Persistence : std::uint8_t { kSilent, kClose, kKeepAlive };

/// How the body of a message goes out, and the Content-Length that its head states.
struct H1Announcement {
  H1Framing framing = H1Framing::kNone;
  std::optional<std::uint64_t> contentLength;
};

/// All return false, and have written nothing, if the head holds what HTTP/1.x can not carry.
bool writeRequestHead(base::ByteQueue& out, const RequestHead& head, const H1Announcement& body,
                      H1Persistence persistence);
bool writeResponseHead(base::ByteQueue& out, const ResponseHead& head, const H1Announcement& body,
                       H1Persistence persistence);

}  // namespace sluice::http
