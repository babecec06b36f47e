// The dial of a request of a route as EgressPolicies see it: its facts, with the request as it comes and as it leaves.
// Pure functions.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"
#include "proxy/routing/policy/egress/egress_facts.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

inline EgressHttp egressHttp(const http::RequestHead& head) { return {head.methodText, head.path()}; }

/// Returns the facts of a request of a route to that Backend, which has come as `sent` from the client, perhaps to a
/// forward proxy. All arguments outlive them.
EgressFacts egressFacts(const BackendPlan& backend, base::AddressBytes client, const EgressHttp& sent,
                        const EgressHttp& leaving, bool forwardProxy = false);

/// Returns true if the rule or the weighted backend sets another path.
inline bool rewritesPath(const Rule& rule, const WeightedBackend& backend) {
  return rule.rewrite.path != PathRewrite::kNone || backend.rewrite.path != PathRewrite::kNone;
}
/// Returns the target of the request for the Backend, after the rewrite of the rule or of the weighted backend.
std::string_view attemptTarget(base::Arena& arena, const http::RequestHead& request, const Rule& rule,
                               const WeightedBackend& backend);
/// Returns the request as the filters will leave it for the Backend.
EgressHttp leavingHttp(base::Arena& arena, const http::RequestHead& request, const Rule& rule,
                       const WeightedBackend& backend);

}  // namespace sluice::routing
