// The judgement of one EgressPolicy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/terms/egress_terms.h"

namespace sluice::routing {

enum class EgressRuling : std::uint8_t {
  kPassed,
  kUndecided,  // facts that may become known decide
  kDenied
};

/// The index of no rule: the policy's default has decided.
inline constexpr std::size_t kEgressDefault = base::kMostEgressRules;

struct EgressJudgement {
  EgressRuling ruling;
  std::size_t rule;  // the one that has decided, or kEgressDefault
};

}  // namespace sluice::routing
