// Says where each weighted backend of a rule comes from: from one of the rule's backendRefs, and if that means a
// Backend of several endpoints, from one of these.
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

/// The most weighted backends of a rule, because sets of them are kept as bits.
constexpr std::size_t kMostRuleMembers = 64;

struct RuleMember {
  const config::HttpBackendRef* ref = nullptr;  // in the route's object
  std::string endpoint = {};                    // "host:port"; empty unless the Backend is one of endpoints
  std::uint32_t priority = 0;                   // among the endpoints of the Backend
  std::uint32_t share = 1;                      // weight among the endpoints of that priority
  bool isFallback = false;                      // config::Backend::isFallback
  std::uint32_t weight = 0;                     // weight among all members, if their priorities are equal
  std::shared_ptr<const BackendUse> use = {};   // the resolution of `ref`
};

/// Returns true if one of the members is an endpoint of such a Backend.
bool haveEndpoints(const std::vector<RuleMember>& members);
/// Returns true if the Backends themselves say in which order they get requests.
bool haveOrder(const std::vector<RuleMember>& members);

/// Sets the weights of the members: those of the backendRefs, or if there are endpoints, numbers in the same
/// proportion, which the endpoints of a priority share. Sets those of the rule's weighted backends too; endpoints that
/// stand by get 0 there.
void setWeights(std::vector<RuleMember>& members, routing::Rule& rule);

}  // namespace sluice::compile
