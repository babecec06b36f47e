// Writes heads of HTTP/1.x messages. Everything is checked before the first byte is written, so that no value that the
// gateway or a processor sets can start another line or message.
//
// Framing and hop-by-hop fields come from the arguments alone; such names in `headers` are skipped. Pure functions; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/h1/h1_body_reader.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// The Connection option of a head; kSilent leaves it to the default of the version.
enum class H1Persistence : std::uint8_t { kSilent, kClose, kKeepAlive };

/// The way in which the body of a message goes out, and the Content-Length that its head states.
struct H1Announcement {
  H1Framing framing = H1Framing::kNone;
  std::optional<std::uint64_t> contentLength;
};

/// Both return false, and have written nothing, if the head contains something that HTTP/1.x cannot carry. A response
/// that keeps the connection by kKeepAlive states for how many seconds, unless that is 0.
bool writeRequestHead(base::ByteQueue& out, const RequestHead& head, const H1Announcement& body,
                      H1Persistence persistence);
bool writeResponseHead(base::ByteQueue& out, const ResponseHead& head, const H1Announcement& body,
                       H1Persistence persistence, std::uint32_t keepAliveSeconds = 0);

}  // namespace sluice::http
