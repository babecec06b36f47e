// ConnectionSettings say how connections to a Backend are made and how long they live, where a policy says something
// else than the settings of the process. A value; part of a BackendPlan.
#pragma once

#include <optional>

#include "proxy/base/clock.h"

namespace sluice::routing {

struct ConnectionSettings {
  /// The time for all addresses and the TLS handshake together, in place of timeouts.connect.
  std::optional<base::Duration> connectTimeout = std::nullopt;
  /// The time after which a connection closes that no request uses, in place of timeouts.upstreamIdle.
  std::optional<base::Duration> idleTimeout = std::nullopt;
  /// The time after which a connection takes no further request; zero: no bound.
  base::Duration lifetime = base::Duration::zero();

  friend bool operator==(const ConnectionSettings&, const ConnectionSettings&) = default;
};

}  // namespace sluice::routing
