// The opening handshake of WebSocket over HTTP/1.1 (RFC 6455 section 4): what asks for a tunnel, and what agrees to it.
// The only protocol that a connection is switched to (RFC 9110 section 7.8).
//
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "proxy/http/field_section.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// A request that is complete and whole as a handshake: GET of HTTP/1.1 without a body, `Upgrade: websocket` and
/// nothing else in it, named by Connection, with a proper key. Whatever is less is no upgrade, and goes on without the
/// field. The version is for the backend to judge.
bool asksForWebSocket(const RequestHead& head, const FieldSection& fields);

/// The key of a handshake: the only Sec-WebSocket-Key in there, or else empty.
std::string_view webSocketKey(const Headers& headers);

/// nullptr if a 101 with these fields agrees to the request that `accept` belongs to, or else why not.
const char* disagreement(const FieldSection& fields, std::string_view accept);

}  // namespace sluice::http
