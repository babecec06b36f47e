// How connections to a Backend are made and how long they live, where a policy overrides the settings of the process. A
// value; part of a BackendPlan.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/base/clock.h"
#include "proxy/base/terms/circuit_breaker_bounds.h"
#include "proxy/base/terms/dns_terms.h"
#include "proxy/base/terms/load_balancing.h"
#include "proxy/base/terms/tcp_keepalive.h"

namespace sluice::routing {

struct ConnectionSettings {
  /// The time for all addresses and the TLS handshake together, in place of timeouts.connect.
  std::optional<base::Duration> connectTimeout = std::nullopt;
  /// The time after which a connection closes that no request uses, in place of timeouts.upstreamIdle.
  std::optional<base::Duration> idleTimeout = std::nullopt;
  /// The time after which a connection takes no further request; zero: no bound.
  base::Duration lifetime = base::Duration::zero();
  /// The keepalive probes of an idle connection; nullopt: none.
  std::optional<base::TcpKeepalive> keepalive = std::nullopt;
  /// Which addresses of the Backend's name are looked up, and how long they are used.
  base::DnsTerms dns = {};
  /// Connections go to the first address alone, because all addresses of the name lead to the same service.
  bool logicalDns = false;
  /// The bounds of a circuit breaker of its own, which does not count the Backend's other connections and requests.
  base::CircuitBreakerBounds bounds = {};
  /// The bounds of each endpoint, or of each address of the Backend's name.
  base::CircuitBreakerBounds perEndpoint = {};
  /// Requests of high priority are counted by themselves, at the Backend and at its endpoints.
  bool highPriority = false;
  /// The number of requests after which a connection takes no further one; 0: any number.
  std::uint32_t requestsPerConnection = 0;
  /// Which endpoint, or which address of the Backend's name, a request goes to.
  base::LoadBalancing balancing = {};
  /// False for a Backend that treats requests with Via differently: they have Sluice-Via in its place.
  bool sendsVia = true;

  /// Returns true if a request must choose one of the addresses of the Backend's name first.
  bool choosesAddress() const { return balancing.type != base::BalancerType::kLeastRequest || perEndpoint.any(); }
  /// Returns true if they have bounds of their own.
  bool bound() const { return bounds.any() || perEndpoint.any() || highPriority; }

  friend bool operator==(const ConnectionSettings&, const ConnectionSettings&) = default;
};

}  // namespace sluice::routing
