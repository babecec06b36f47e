// The CORS policy, which tells browsers which requests from other origins are allowed (Gateway API HTTPCORSFilter;
// Fetch standard, "CORS protocol").
//
// Immutable, part of a Rule or of one of its weighted backends; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"

namespace sluice::routing {

/// Returns true for a preflight, by which a browser asks before it sends the request that it announces: OPTIONS with
/// one Origin and one Access-Control-Request-Method, which is a token.
bool isPreflight(const http::RequestHead& request);
/// Returns the method that a preflight announces.
std::string_view announcedMethod(const http::RequestHead& preflight);

/// Origins that share a scheme and a port.
struct OriginPattern {
  bool https = false;
  std::uint16_t port = 0;
  /// The host, or its suffix (".example.com"; empty: any host).
  std::string host;
  bool wildcard = false;
};

struct Cors {
  bool anyOrigin = false;
  std::vector<OriginPattern> origins;
  bool credentials = false;
  /// Values of fields as they are sent; empty: the field is left out. If the `any` beside a value is set, the value is
  /// the one that the request asks for.
  std::string allowMethods;
  bool anyMethod = false;
  std::string allowHeaders;
  bool anyHeader = false;
  std::string exposeHeaders;
  bool exposeAll = false;
  std::string maxAge;  // seconds

  bool allows(std::string_view origin) const;

  /// Replaces the CORS fields of `answer`, the final head of the answer to `request`, because this policy alone decides
  /// which origin may read it. Views are into this object, the request and `arena`. An origin that is allowed is
  /// echoed, never answered by "*", because that works with and without credentials; so every answer varies by it.
  void apply(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const;

 private:
  void admit(base::Arena& arena, const http::RequestHead& request, std::string_view origin,
             http::Headers& answer) const;
  void addPreflight(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const;
  void addExposed(base::Arena& arena, const http::RequestHead& request, http::Headers& answer) const;
};

/// scheme://host[:port] with http or https, as browsers write an origin (Fetch, "serializing a request origin").
struct Origin {
  bool https = false;
  std::string_view host;
  std::uint16_t port = 0;  // the scheme's own if none is written

  /// Returns nothing if `text` is no such origin.
  bool read(std::string_view text);
};

}  // namespace sluice::routing
