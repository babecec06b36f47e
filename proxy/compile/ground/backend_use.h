// A reference to a Backend or Service, and where it leads: what all who have such references, and all who say something
// of what they lead to, agree on.
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

/// One of the places where requests to a Backend go.
struct EndpointUse {
  BackendResult result;
  std::string name = {};       // "host:port"; empty unless the Backend is one of endpoints
  std::uint32_t priority = 0;  // config::BackendPort
  std::uint32_t weight = 1;

  friend bool operator==(const EndpointUse& a, const EndpointUse& b) {
    return a.result == b.result && a.name == b.name && a.priority == b.priority && a.weight == b.weight;
  }
};

/// A backendRef and its resolution.
struct BackendUse {
  config::BackendObjectReference target;  // as the first of the objects that have it has written it
  /// Sorted by priority, the lowest number first. Only a Backend of type Endpoints has more than one.
  std::vector<EndpointUse> endpoints;
  config::Finding note;  // a note for the conditions of the reference's holder; without a message: none
  /// Set if the reference is permitted and the Backend exists, served or not.
  std::shared_ptr<const config::Backend> backend = nullptr;
  /// The Secrets that its endpoints are made of, or would be if they could be served; only with BackendCatalog.
  base::ObjectNames secrets = {};

  /// Returns the resolution for those who want one place alone: the first endpoint that can be served.
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
