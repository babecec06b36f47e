// The handshake of a tunnel depends on its kind. Over HTTP/1.1 a tunnel is an upgrade (RFC 9110 section 7.8), over
// HTTP/2 an extended CONNECT (RFC 8441), where the codecs translate both heads, and a 101 is a 2xx. WebSocket is the
// only protocol that a connection is switched to; its handshake is RFC 6455 section 4.
//
// Pure functions; any thread. The values that a handshake computes are made in proxy/exchange/tunnel.h.
#pragma once

#include <string_view>

#include "proxy/http/field_section.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// Returns the tunnel that a request of HTTP/1.x asks for. The handshake must be complete: GET of HTTP/1.1 without a
/// body, `Upgrade: websocket` and nothing else in it, named by Connection, with a proper key. A request with anything
/// less is no upgrade (kNone), and goes on without the field. The version of the protocol is for the backend to judge.
Tunnel tunnelOfUpgrade(const RequestHead& head, const FieldSection& fields);

/// Returns the tunnel that an extended CONNECT with this :protocol asks for; kNone if it is not served.
Tunnel tunnelOfProtocol(std::string_view protocol);

/// Returns the protocol that Upgrade names for a tunnel of that kind; empty if it is never asked for in HTTP.
std::string_view upgradeName(Tunnel tunnel);

/// Removes the fields of HTTP/1.1's handshake from a request that was made by an extended CONNECT, or is to be.
void removeHandshake(RequestHead& head);

/// Puts the answer to HTTP/1.1's handshake, with this RequestHead::tunnelProof, into a response of HTTP/2 that agrees
/// to such a tunnel.
void answerHandshake(base::Arena& arena, Tunnel tunnel, std::string_view proof, Headers& response);

/// Returns the key of a WebSocket's handshake: the value of the only Sec-WebSocket-Key, or else nothing.
std::string_view webSocketKey(const Headers& headers);

/// Returns nullptr if a 101 with these fields agrees to the tunnel that was asked for, with this
/// RequestHead::tunnelProof; otherwise why it does not.
const char* disagreement(Tunnel asked, std::string_view proof, const FieldSection& fields);

}  // namespace sluice::http
