// Lists the filters that a request and its answer go through, in the order in which they apply (exchange/attempt/
// attempt_head.h, routing/policy/rule_reply.h).
#pragma once

#include <vector>

#include "proxy/control/explain/explanation.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns the filters of a request that the weighted backend gets, and of its response.
std::vector<ExplainedFilter> filtersOfForwarded(const routing::Rule& rule, const routing::WeightedBackend& backend);
/// Returns the filters of an answer that a filter gives. `backend` is null if the one of the rule does.
std::vector<ExplainedFilter> filtersOfAnswered(const routing::Rule& rule, const routing::WeightedBackend* backend);
/// Returns the filters of a refusal.
std::vector<ExplainedFilter> filtersOfRefused(const routing::Rule& rule, const routing::WeightedBackend* backend);

}  // namespace sluice::control
