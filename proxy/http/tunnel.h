// How a tunnel is asked for and agreed to, by its kind. Over HTTP/1.1 that is an upgrade (RFC 9110 section 7.8), over
// HTTP/2 an extended CONNECT (RFC 8441): there the codec says in its own words what the head says here, and a 101 goes
// out as 200. WebSocket is the only protocol that a connection is switched to; its handshake is RFC 6455 section 4.
//
// Pure functions; any thread. What a handshake computes is made in proxy/exchange/tunnel.h.
#pragma once

#include <string_view>

#include "proxy/http/field_section.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// The tunnel that a request of HTTP/1.x asks for. It must be complete and whole as a handshake: GET of HTTP/1.1
/// without a body, `Upgrade: websocket` and nothing else in it, named by Connection, with a proper key. Whatever is
/// less is no upgrade (kNone), and goes on without the field. The version of the protocol is for the backend to judge.
Tunnel tunnelOfUpgrade(const RequestHead& head, const FieldSection& fields);

/// The tunnel that an extended CONNECT with this :protocol asks for; kNone if it is not served.
Tunnel tunnelOfProtocol(std::string_view protocol);

/// What Upgrade names for a tunnel of that kind; empty if it is never asked for in HTTP.
std::string_view upgradeName(Tunnel tunnel);

/// Removes what belongs to the handshake of HTTP/1.1 from a request that was asked for by an extended CONNECT.
void removeHandshake(RequestHead& head);

/// The key of a WebSocket's handshake: the only Sec-WebSocket-Key in there, or else empty.
std::string_view webSocketKey(const Headers& headers);

/// nullptr if a 101 with these fields agrees to the tunnel that was asked for, with this RequestHead::tunnelProof, or
/// else why not.
const char* disagreement(Tunnel asked, std::string_view proof, const FieldSection& fields);

}  // namespace sluice::http
