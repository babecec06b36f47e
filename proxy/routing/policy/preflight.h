// Which rule a request meets, if it may be a browser's question before a request from another origin.
#pragma once

#include <string_view>

#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// Of an OPTIONS request; see matchRequest().
RouteMatch matchOptions(const RouteTable& routes, const http::RequestHead& head, std::string_view serverName);

/// RouteTable::match(), but a preflight meets the rule of the request that it announces, whose method it names, if that
/// rule or a share of it has a CORS filter: a rule for one method could otherwise never be asked across origins. If it
/// has none, a preflight is an OPTIONS request like any other.
inline RouteMatch matchRequest(const RouteTable& routes, const http::RequestHead& head, std::string_view serverName) {
  return head.method == http::Method::kOptions ? matchOptions(routes, head, serverName)
                                               : routes.match(head, serverName);
}

}  // namespace sluice::routing
