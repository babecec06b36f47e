// The messages that are malformed in HTTP/2 (RFC 9113 section 8.1.1): their stream is reset, while other requests that
// hygiene refuses are answered.
//
// nghttp2 would look at every line for this, although hygiene does too, and more strictly. So nghttp2's checks are off,
// and a request that hygiene accepts is known to be well-formed; only a refused one is looked at here. Values only; any
// thread.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/http/h2/h2_body_length.h"
#include "proxy/http/h2/h2_field_reader.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns true if a request that was refused is malformed. `endOfStream`: no body follows.
bool isMalformedRequest(const H2FieldReader& section, bool endOfStream);
/// Returns true if trailers hold a field that HTTP/2 forbids, or a Content-Length that is not the first one or not the
/// body's; `ofRequest`: or Host. Names and values are left to checkTrailers().
bool isMalformedTrailers(const Headers& fields, const H2BodyLength& length, bool ofRequest);
/// Returns the length that a request announces; nullopt if it announces none, or is a CONNECT without a protocol.
std::optional<std::uint64_t> announcedLength(const H2FieldReader& section);

}  // namespace sluice::http
