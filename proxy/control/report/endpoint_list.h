// The endpoints of the Backends and Services in use with their states, as the admin document /status lists them.
//
// It is read on the main thread, of values that workers and the health checker write for other purposes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/seen_endpoints.h"
#include "proxy/routing/policy/backend_reach.h"

namespace sluice::control {

/// If an endpoint has several of these states, the last one is shown.
enum class EndpointState : std::uint8_t {
  kHealthy,    // until the gateway knows otherwise
  kSlowStart,  // it came less than loadBalancing.slowStart ago
  kEjected,    // the outlier detection of a rule ejects it, or its whole Backend
  kUnhealthy   // a health check of a rule fails, or the Backend takes no connections
};
inline constexpr auto kEndpointStateNames =
    std::to_array<std::string_view>({"healthy", "slowStart", "ejected", "unhealthy"});

/// The members of an endpoint, in their order.
inline constexpr auto kEndpointMembers =
    std::to_array<std::string_view>({"object", "endpoint", "reachable", "healthy", "address", "zone", "weight", "state",
                                     "since", "by", "failures", "lastError", "lastFailure", "lastFailedAt"});

/// One entry of the list, with the values that summaries of it use.
struct EndpointRow {
  std::string object;    // BackendPlan::object
  std::string endpoint;  // as the list names it
  /// None if the entry stands for all endpoints of a Service, which have entries of their own.
  std::optional<EndpointState> state = std::nullopt;
  bool reachable = true;
  base::WallTime since{};  // the epoch if it is not known
  std::string by = {};     // of an ejected endpoint
  routing::ReachFailures failures = {};
  std::string json = {};  // the whole entry
};

struct ListedEndpoints {
  /// The most endpoints of Services and balanced names, for one object and in all. Those that do not serve come first.
  static constexpr std::size_t kMostOfObject = 256;
  static constexpr std::size_t kMost = 1000;

  std::string endpoints = "[]";  // JSON
  std::string leftOut = {};      // JSON: [{"object", "count"}]; empty if none is left out
  std::size_t countLeftOut = 0;
  std::vector<EndpointRow> rows = {};  // those of `endpoints`
};

ListedEndpoints listEndpoints(const CompiledConfiguration& configuration, const SeenEndpoints& seen, const Moment& now);

}  // namespace sluice::control
