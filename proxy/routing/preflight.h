// Finds the rule of a request that may be a preflight: a browser's question before a request from another origin.
#pragma once

#include <string_view>

#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// Returns the request that a preflight announces, as far as routes match it.
http::RequestHead announcedRequest(const http::RequestHead& preflight);

/// Matches a CONNECT or an OPTIONS request; see matchRequest().
RouteMatch matchUnusual(const RouteTable& routes, const http::RequestHead& head, std::string_view serverName);

/// Does RouteTable::match(), but a preflight meets the rule of the request that it announces, whose method it names, if
/// that rule or one of its weighted backends has a CORS filter: otherwise no preflight could reach a rule for one
/// method. If there is no such filter, a preflight is an OPTIONS request like any other.
inline RouteMatch matchRequest(const RouteTable& routes, const http::RequestHead& head, std::string_view serverName) {
  const bool isUnusual = head.method == http::Method::kOptions || head.method == http::Method::kConnect;
  return isUnusual ? matchUnusual(routes, head, serverName) : routes.match(head, serverName);
}

}  // namespace sluice::routing
