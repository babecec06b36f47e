#include "proxy/compile/routes/compile_connections.h"

#include <algorithm>

#include "proxy/compile/policies/destination_traffic.h"

namespace sluice::compile {
namespace {

/// Returns the shorter of two times. Zero means that there is no limit.
base::Duration shorter(base::Duration one, base::Duration other) {
  if (one == base::Duration::zero() || other == base::Duration::zero()) return std::max(one, other);
  return std::min(one, other);
}

}  // namespace

void addTimeouts(const TrafficSettings& settings, routing::Rule& compiled) {
  if (settings.timeouts == nullptr) return;
  const config::TrafficTimeouts& timeouts = *settings.timeouts;
  if (!compiled.requestTimeout) compiled.requestTimeout = timeouts.request;
  if (timeouts.streamLifetime) {
    compiled.requestTimeout =
        shorter(compiled.requestTimeout.value_or(base::Duration::zero()), *timeouts.streamLifetime);
  }
  compiled.streamIdleTimeout = timeouts.streamIdle;
}

void governConnections(const RuleTraffic& traffic, const BackendCatalog& backends, routing::Rule& compiled) {
  for (std::size_t i = 0; i < compiled.backends.size(); ++i) {
    auto& backend = compiled.backends[i].backend;
    if (backend != nullptr) backend = backends.governed(backend, connectionSettings(traffic.ofBackend(i)));
  }
}

}  // namespace sluice::compile
