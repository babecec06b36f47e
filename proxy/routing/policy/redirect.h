// The RequestRedirect filter sends a client elsewhere (Gateway API HTTPRequestRedirectFilter, RFC 9110 section 15.4).
//
// Immutable, part of a Rule or of one of its weighted backends; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"
#include "proxy/routing/policy/url_rewrite.h"

namespace sluice::routing {

struct Redirect {
  std::uint16_t status = 302;
  std::string scheme;      // "http" or "https"; empty: the request's
  std::string hostname;    // empty: the request's
  std::uint16_t port = 0;  // 0: that of `scheme` if it is set, else the listener's
  UrlRewrite path;         // its authority is not used

  /// Returns the value of Location: absolute, without the default port of the scheme; relative for a request without a
  /// host.
  std::string_view location(base::Arena& arena, const http::RequestHead& request, std::uint16_t listenerPort) const;
};

}  // namespace sluice::routing
