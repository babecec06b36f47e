// The limits that all workers share: connections and requests per backend, the memory of bodies held for processors,
// that of all bodies under way, that of the large heads of requests, the places of tunnels, and the passwords that wait
// for their check; and the addresses that have failed. One for the process; the bounds come from the settings that are
// served.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/base/settings.h"
#include "proxy/exchange/authentication/password_checks.h"
#include "proxy/exchange/transaction/client_memory.h"
#include "proxy/exchange/tunnel/tunnel_places.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/upstream/dial/failed_addresses.h"
#include "proxy/upstream/places/circuit_breaker.h"

namespace sluice::server {

struct SharedBudgets {
  explicit SharedBudgets(const base::LimitSettings& limits)
      : upstream(limits.backendConnections, limits.backendRequests),
        buffers(limits.processorBufferTotal),
        clients(limits.connectionMemoryTotal),
        heads(limits.headerMemoryTotal),
        tunnels(limits),
        passwords(limits.passwordChecks) {}

  void setBounds(const base::LimitSettings& limits) {
    upstream.setBounds(limits.backendConnections, limits.backendRequests);
    buffers.setMost(limits.processorBufferTotal);
    clients.setMost(limits.connectionMemoryTotal);
    heads.setMost(limits.headerMemoryTotal);
    tunnels.setBounds(limits);
    passwords.setMost(limits.passwordChecks);
  }

  /// How much of a limit is used.
  struct LimitUse {
    std::string_view limit;  // its key in the settings
    std::uint64_t used = 0;
    std::uint64_t most = 0;
  };
  /// Returns the use of those that do not belong to a Backend. Of memory for bodies and heads, it is the half that goes
  /// to the first worker that asks.
  std::vector<LimitUse> uses(const base::LimitSettings& limits) {
    return {{"processorBufferTotal", buffers.used(), buffers.common()},
            {"connectionMemoryTotal", clients.used(), limits.connectionMemoryTotal},
            {"headerMemoryTotal", heads.used(), heads.common()},
            {"tunnels", tunnels.taken(), limits.tunnels},
            {exchange::kPasswordLimit, passwords.waiting(), limits.passwordChecks}};
  }

  upstream::CircuitBreakers upstream;
  upstream::FailedAddresses failedAddresses;
  processing::BufferBudget buffers;
  exchange::ClientMemoryTotal clients;
  processing::BufferBudget heads;
  exchange::TunnelPlaces tunnels;
  exchange::PasswordChecks passwords;
};

}  // namespace sluice::server
