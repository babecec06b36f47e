// The windows of streams for the bodies that the peer sends (RFC 9113 section 5.2).
#pragma once

#include <cstddef>

#include "proxy/http/codec.h"

namespace sluice::http {

class H2Connection;

/// Grants the peer `count` bytes more, which the consumer of this stream's body took.
void grantStream(H2Connection& connection, StreamId id, std::size_t count);
/// Lets limits.streamWindow of this stream's body be under way.
void widenStream(H2Connection& connection, StreamId id);

}  // namespace sluice::http
