// The service that a socket's listeners give to the connections that they take. compile() makes it, and the server's
// connections use it. Each kind of service is an alternative, and std::visit marks each place that must know all of
// them.
#pragma once

#include <variant>

#include "proxy/routing/table/route_table.h"

namespace sluice::routing {

/// HTTP/1.x and HTTP/2: each request finds its rule, at the listener that owns its host.
struct HttpService {
  RouteTable routes;
  bool forwardProxy = false;  // clients name the destinations of their requests
};

using ListenerService = std::variant<HttpService>;

/// Returns the routes of a service that is known to be HTTP.
inline const RouteTable& routesOf(const ListenerService& service) { return std::get<HttpService>(service).routes; }
/// Returns true if clients of the service name the destinations of their requests.
inline bool isForwardProxy(const ListenerService& service) {
  return std::visit([](const HttpService& http) { return http.forwardProxy; }, service);
}

}  // namespace sluice::routing
