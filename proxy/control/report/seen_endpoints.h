// SeenEndpoints remembers when each endpoint of the Backends and Services in use came to this process: /status shows
// how long it has been there, and whether it is in its slow start.
//
// It belongs to the main thread. Each worker has the ages of its own pools, which begin with the first request of the
// worker to the Backend, or later with the endpoint.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// A time by both clocks.
struct Moment {
  base::MonotonicTime now{};
  base::WallTime wall{};
};

class SeenEndpoints {
 public:
  /// Called when another configuration is served. Endpoints that are gone are forgotten.
  void adopt(const routing::Snapshot& served, const Moment& now);
  /// Returns when an endpoint of that plan came; without one, when the plan did. Returns nullopt if it is not known.
  std::optional<Moment> since(const routing::BackendPlan& plan, const std::optional<routing::Endpoint>& endpoint) const;

 private:
  struct SeenPlan {
    std::shared_ptr<const routing::BackendPlan> plan;
    std::vector<Moment> since;  // of each of its endpoints; of the plan itself if it has a name
  };
  static SeenPlan seen(const std::shared_ptr<const routing::BackendPlan>& plan, SeenPlan before, const Moment& now);

  std::unordered_map<routing::BackendIdentity, SeenPlan, routing::BackendIdentity::Hash> plans_;
};

}  // namespace sluice::control
