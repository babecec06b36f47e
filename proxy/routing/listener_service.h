// What a socket's listeners do with the connections that they take. Made by compile(), used by the server's
// connections; a kind of service is an alternative, and std::visit finds each place that must know it.
#pragma once

#include <variant>

#include "proxy/routing/table/route_table.h"

namespace sluice::routing {

/// HTTP/1.x and HTTP/2: each request finds its rule, at the listener that owns its host.
struct HttpService {
  RouteTable routes;
};

using ListenerService = std::variant<HttpService>;

/// The routes of a service that is known to be HTTP.
inline const RouteTable& routesOf(const ListenerService& service) { return std::get<HttpService>(service).routes; }

}  // namespace sluice::routing
