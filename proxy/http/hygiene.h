// This is the one place where a message is checked and brought into normal form, whichever version it came in:
// authority, path, framing, hop-by-hop fields. Codecs call it while they build a head; no other code needs to check
// again.
//
// Hop-by-hop fields, and the fields that a peer's Connection names, are removed here, before the gateway adds any
// field, so that a client cannot strip a field that the gateway sets. Connection options are ignored if they name
// end-to-end fields for which the gateway or a proxy in front of it is responsible (Authorization, Cookie, Forwarded,
// X-Forwarded-*, Via, Max-Forwards, ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/http/authority.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/message.h"
#include "proxy/http/target.h"

namespace sluice::http {

/// The control data and fields of a request as they were on the wire, before anything was decided about them. `fields`
/// holds every line, names in lower case, Host, Content-Length and Connection included; pseudo-header fields are in the
/// members.
struct RawRequest {
  std::string_view method;
  std::string_view target;     // HTTP/1.x request-target, or :path
  std::string_view scheme;     // :scheme; empty for HTTP/1.x
  std::string_view authority;  // :authority; empty for HTTP/1.x and where absent
  std::string_view protocol;   // :protocol (RFC 8441); empty for HTTP/1.x and where absent
  Headers fields;
  Version version = Version::kHttp11;
  bool endOfStream = false;           // HTTP/2: END_STREAM on HEADERS
  KnownAuthorities* known = nullptr;  // of the worker, if it keeps them
};

/// Returns the checked head, with its views in `arena` (into which raw's views must point too). Errors are
/// downstream's, with the status to answer (400, 405, 417, 501). `terms` are those of the listener.
///
/// It refuses requests with one of these:
///  - both framings, or conflicting ones; a Transfer-Encoding other than exactly `chunked`; a Content-Length that is
///    not one 1*DIGIT value up to 2^63-1;
///  - no Host or several in HTTP/1.1, a Host that differs from the authority, userinfo, an authority that is no
///    host[:port];
///  - names and values outside RFC 9110's grammar, connection-specific fields in HTTP/2, unknown expectations;
///  - several lines of Authorization or Content-Type, a Content-Type that is not one media type;
///  - a path that normalizeTarget refuses;
///  - the method CONNECT, except at a forward proxy; there, a CONNECT with content, and several lines of
///    Proxy-Authorization. A target in origin-form is marked there (RequestHead::namesNoDestination).
///
/// All hop-by-hop fields and the fields that Connection names are removed before the gateway adds any field. Several
/// Cookie lines become one. A Content-Length of 0 is Body::kNone, so kLength always means at least one byte. An Upgrade
/// field is removed like other hop-by-hop fields, unless it asks for a tunnel (Body::kTunnel). A tunnel that is
/// requested by HTTP/2's extended CONNECT (RFC 8441) becomes the same GET, without a key. At a forward proxy, Host
/// gives way to the request-target (RFC 9112 section 3.2.2).
base::Result<RequestHead> checkRequest(base::Arena& arena, const RawRequest& raw, ServerTerms terms);
/// Makes the head, which is large, in its place: `head` must be a new one, and means nothing if there is an error.
std::optional<base::Error> checkRequest(base::Arena& arena, const RawRequest& raw, ServerTerms terms,
                                        RequestHead& head);

struct RawResponse {
  std::uint16_t status = 0;
  Headers fields;
  Version version = Version::kHttp11;
  bool endOfStream = false;  // HTTP/2
};

/// Returns the checked head of a response; `requestMethod` decides about bodies (RFC 9112 section 6.3). Errors are
/// upstream's: http_protocol_error. `closes` is set if an HTTP/1.x peer will end the connection behind this response.
base::Result<ResponseHead> checkResponse(base::Arena& arena, const RawResponse& raw, Method requestMethod,
                                         bool& closes);

/// Returns the checked head of a 101 that answers a request for that tunnel, with the request's
/// RequestHead::tunnelProof. Its body is kTunnel, whatever framing it claims. Errors are those of checkResponse().
base::Result<ResponseHead> checkSwitch(base::Arena& arena, const RawResponse& raw, Tunnel asked,
                                       std::string_view proof);

/// Returns the checked head of a 2xx of HTTP/2 that agrees to that tunnel (RFC 8441 section 5), in the form of the 101
/// that checkSwitch() returns: with the agreement's status, and the request's RequestHead::tunnelProof as its answer to
/// the key that HTTP/2 does not have. A Content-Length in it means nothing (RFC 9110 section 9.3.6).
base::Result<ResponseHead> checkAgreement(base::Arena& arena, const RawResponse& raw, Tunnel asked,
                                          std::string_view proof);

/// Removes framing, routing and hop-by-hop fields, which trailers may not pass on (RFC 9110 section 6.5.1). Returns
/// false if a line is malformed.
bool checkTrailers(Headers& fields);

/// No message with that status has a body (RFC 9110 section 6.4.1).
constexpr bool statusForbidsBody(std::uint16_t status) { return status < 200 || status == 204 || status == 304; }

}  // namespace sluice::http
