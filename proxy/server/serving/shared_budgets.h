// The limits that all workers share: connections and requests per backend, the memory of bodies held for processors,
// that of all bodies under way, that of the large heads of requests, and the places of tunnels. One for the process;
// the bounds come from the settings that are served.
#pragma once

#include "proxy/base/settings.h"
#include "proxy/exchange/transaction/client_memory.h"
#include "proxy/exchange/tunnel/tunnel_places.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/upstream/places/circuit_breaker.h"

namespace sluice::server {

struct SharedBudgets {
  explicit SharedBudgets(const base::LimitSettings& limits)
      : upstream(limits.backendConnections, limits.backendRequests),
        buffers(limits.processorBufferTotal),
        clients(limits.connectionMemoryTotal),
        heads(limits.headerMemoryTotal),
        tunnels(limits) {}

  void setBounds(const base::LimitSettings& limits) {
    upstream.setBounds(limits.backendConnections, limits.backendRequests);
    buffers.setMost(limits.processorBufferTotal);
    clients.setMost(limits.connectionMemoryTotal);
    heads.setMost(limits.headerMemoryTotal);
    tunnels.setBounds(limits);
  }

  upstream::CircuitBreakers upstream;
  processing::BufferBudget buffers;
  exchange::ClientMemoryTotal clients;
  processing::BufferBudget heads;
  exchange::TunnelPlaces tunnels;
};

}  // namespace sluice::server
