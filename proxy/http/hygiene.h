// The one place where a message is checked and brought into normal form, whichever version it came in: authority, path, framing,
// hop-by-hop fields. Codecs call it while they build a head; nobody else needs to check again.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/http/limits.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// What a request's control data and fields were on the wire, before anything was decided about them. `fields` holds every line,
/// names in lower case, Host, Content-Length and Connection included; pseudo-header fields are in the members.
struct RawRequest {
  std::string_view method;
  std::string_view target;     // HTTP/1.x request-target, or :path
  std::string_view scheme;     // :scheme; empty for HTTP/1.x
  std::string_view authority;  // :authority; empty for HTTP/1.x and where absent
  Headers fields;
  Version version = Version::kHttp11;
  bool endOfStream = false;  // HTTP/2: END_STREAM on HEADERS
};

/// The checked head, its views in `arena` (into which raw's views must point too). Errors are downstream's, with the status to
/// answer (400, 414, 417, 431, 501). `listenerScheme` is "http" or "https".
///
/// Refused: both or conflicting framings, a Transfer-Encoding other than exactly `chunked`, Content-Length that is not one 1*DIGIT
/// value, no or several Host in HTTP/1.1, Host that differs from the authority, userinfo, an authority that is no host[:port],
/// unknown expectations, connection-specific fields in HTTP/2, names and values outside RFC 9110's grammar, paths that normalizePath
/// refuses. Removed: what Connection names, and all hop-by-hop fields (before anything of ours is added).
base::Result<RequestHead> checkRequest(base::Arena& arena, const RawRequest& raw, std::string_view listenerScheme);

struct RawResponse {
  std::uint16_t status = 0;
  Headers fields;
  Version version = Version::kHttp11;
  bool endOfStream = false;  // HTTP/2
};

/// The same for a response; `requestMethod` decides about bodies (RFC 9112 section 6.3). Errors are upstream's: http_protocol_error.
/// `closes` is set if an HTTP/1.x peer will end the connection behind this response.
base::Result<ResponseHead> checkResponse(base::Arena& arena, const RawResponse& raw, Method requestMethod, bool& closes);

/// Trailer fields that may be passed on: framing, routing and hop-by-hop fields are removed (RFC 9110 section 6.5.1).
/// False if a line is malformed.
bool checkTrailers(Headers& fields);

/// The one normal form of origin-form targets, for matching and for forwarding. Percent-encodings of unreserved characters are
/// decoded, others get upper-case hex digits; dot segments are removed (RFC 3986 sections 6.2.2, 5.2.4); runs of "/" become one.
/// Refused with 400: encoded "/" (%2F), backslash in either form, %00 and other encoded controls, "#", a bad "%", bytes outside
/// 0x21..0x7E, and climbing above the root. The query is kept as it is (its characters are checked). Copies only if needed.
base::Result<std::string_view> normalizeTarget(base::Arena& arena, std::string_view target);

/// host[:port] in lower case, or an error: no userinfo, no empty host, port 0..65535, IPv6 in brackets.
base::Result<std::string_view> normalizeAuthority(base::Arena& arena, std::string_view authority);
/// "host" of a normal authority, without port or trailing dot; IPv6 without brackets.
std::string_view hostOf(std::string_view authority);
/// 0 if it has none.
std::uint16_t portOf(std::string_view authority);

bool isFieldName(std::string_view name);    // RFC 9110 section 5.1: token
bool isFieldValue(std::string_view value);  // RFC 9110 section 5.5: VCHAR, SP, HTAB, obs-text; no leading or trailing space

}  // namespace sluice::http
