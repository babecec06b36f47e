// A BackendUse is a reference to a Backend or Service together with its resolution. All objects that have such
// references, and all conditions about them, share it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

using BackendResult = Resolved<std::shared_ptr<const routing::BackendPlan>>;

/// A place to which requests to a Backend go.
struct EndpointUse {
  BackendResult result;
  std::string name = {};       // "host:port"; empty unless the Backend is of type Endpoints
  std::uint32_t priority = 0;  // as in config::BackendPort
  std::uint32_t weight = 1;

  friend bool operator==(const EndpointUse& a, const EndpointUse& b) {
    return a.result == b.result && a.name == b.name && a.priority == b.priority && a.weight == b.weight;
  }
};

/// A backendRef and its resolution.
struct BackendUse {
  config::BackendObjectReference target;  // as the first object with this reference has written it
  /// Sorted by priority, the lowest number first. Only a Backend of type Endpoints has more than one endpoint.
  std::vector<EndpointUse> endpoints;
  config::Finding note;  // a note for the holder's conditions; its message is empty if there is none
  /// Set if the reference is permitted and the Backend exists, whether or not it is served.
  std::shared_ptr<const config::Backend> backend = nullptr;
  /// The Secrets that its endpoints use, or would use if they could be served. Only BackendCatalog sets them.
  base::ObjectNames secrets = {};

  /// Returns the resolution for callers that need a single place: the first endpoint that can be served.
  const BackendResult& first() const {
    const auto found = std::find_if(endpoints.begin(), endpoints.end(),
                                    [](const EndpointUse& each) { return static_cast<bool>(each.result); });
    return (found != endpoints.end() ? found : endpoints.begin())->result;
  }

  /// Returns true if both resolutions of one reference are the same.
  friend bool operator==(const BackendUse& a, const BackendUse& b) {
    return a.endpoints == b.endpoints && a.note == b.note && a.backend == b.backend && a.secrets == b.secrets;
  }
};

}  // namespace sluice::compile
