// Prepares the head of a request before its route is looked for.
//
// Pure functions; views are into the arena.
#pragma once

#include <optional>

#include "proxy/base/arena.h"
#include "proxy/base/error.h"
#include "proxy/http/max_forwards.h"
#include "proxy/http/message.h"
#include "proxy/routing/table/route_table.h"

namespace sluice::routing {

/// The slow path of settleHead(), for the few requests that need it.
std::optional<base::Error> settleUnusualHead(base::Arena& arena, http::RequestHead& head, const RouteTable& routes);

/// Takes the port out of the authority if its listener does so, normalises a path with "%2F" or "//" by the rules of
/// its host, before anything is matched against it, and decides by them whether the Backend gets another spelling of
/// the path; counts Max-Forwards down. Returns the answer to a request that may not go on (400, 501), as one that names
/// no destination to a forward proxy.
inline std::optional<base::Error> settleHead(base::Arena& arena, http::RequestHead& head, const RouteTable& routes) {
  const bool isUsual =
      !head.unusualSlashes && head.sentPath.empty() && !head.namesNoDestination && !http::countsForwards(head.method);
  if (isUsual && !routes.stripsPorts()) return std::nullopt;
  return settleUnusualHead(arena, head, routes);
}

}  // namespace sluice::routing
