// The plainest reading of what an EgressPolicy means, to hold the engine against: each condition of each rule is a
// function with three values, and a verdict looks at all rules. It knows no tables, and shares no code with the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/egress_facts.h"
#include "proxy/routing/policy/egress/egress_judge.h"

namespace sluice::routing::test {

enum class Truth : std::uint8_t { kFalse, kUnknown, kTrue };

/// Whether everything that the rule gives matches the facts.
Truth naiveTruth(const base::EgressRule& rule, const EgressFacts& facts);

/// Denied: a Deny rule is true, or the default is Deny and no Allow rule could be true. Passed: all Deny rules are
/// false, and an Allow rule is true if the default is Deny.
EgressRuling naiveRuling(const base::EgressTerms& terms, const EgressFacts& facts);

/// What all policies that cover a request say together: each can deny it, and each must pass it.
EgressRuling naiveRuling(const std::vector<base::EgressTerms>& policies, const EgressFacts& facts);

}  // namespace sluice::routing::test
