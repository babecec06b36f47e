// The opening handshake of WebSocket over HTTP/1.1 (RFC 6455 section 4): what asks for a tunnel, and what agrees to it.
// The only protocol that a connection is switched to (RFC 9110 section 7.8).
//
// Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/field_section.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// A request that is complete and whole as a handshake: GET of HTTP/1.1 without a body, `Upgrade: websocket` and
/// nothing else in it, named by Connection, with a proper key. Whatever is less is no upgrade, and goes on without the
/// field. The version is for the backend to judge.
bool asksForWebSocket(const RequestHead& head, const FieldSection& fields);

/// A Sec-WebSocket-Key: 24 characters.
std::string webSocketKey(const std::array<std::uint8_t, 16>& nonce);

/// The Sec-WebSocket-Accept that answers this request's key: 28 characters.
std::string webSocketAccept(const RequestHead& head);

/// nullptr if a 101 with these fields agrees to the request that `accept` belongs to, or else why not.
const char* disagreement(const FieldSection& fields, std::string_view accept);

}  // namespace sluice::http
