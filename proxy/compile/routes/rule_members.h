// RuleMembers state where each weighted backend of a rule comes from. It comes from one of the rule's backendRefs. If
// that refers to a Backend with several endpoints, it comes from one of these endpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/ground/backend_use.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// The most weighted backends of a rule. Sets of them are stored as the bits of an integer.
constexpr std::size_t kMostRuleMembers = 64;

/// References to Backends and Services with their resolutions.
using UseList = std::vector<std::shared_ptr<const BackendUse>>;

struct RuleMember {
  const config::HttpBackendRef* ref = nullptr;  // points into the route's object
  std::string endpoint = {};                    // "host:port"; empty unless the Backend is of type Endpoints
  std::uint32_t priority = 0;                   // priority among the endpoints of the Backend
  std::uint32_t share = 1;                      // weight among the endpoints with that priority
  bool isFallback = false;                      // as config::Backend::isFallback
  std::uint32_t weight = 0;                     // weight among all members, if their priorities are equal
  std::shared_ptr<const BackendUse> use = {};   // the resolution of `ref`
  UseList mirrors = {};                         // of the mirrors in the filters of `ref` that can be served
};

/// Returns true if one of the members is an endpoint of a Backend with several endpoints.
bool haveEndpoints(const std::vector<RuleMember>& members);
/// Returns true if the Backends themselves define an order of their endpoints.
bool haveOrder(const std::vector<RuleMember>& members);

/// Sets the weights of the members and of the rule's weighted backends. Without endpoints, these are the weights of the
/// backendRefs. With endpoints, they are numbers in the same proportion, which the endpoints of a priority divide among
/// them. Endpoints that stand by get the weight 0 in the rule's weighted backends.
void setWeights(std::vector<RuleMember>& members, routing::Rule& rule);

}  // namespace sluice::compile
