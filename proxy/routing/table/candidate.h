// A rule among those that share a path, or a gRPC method, with the facts that decide which of them comes first.
//
// Values only.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "proxy/routing/table/predicates.h"

namespace sluice::routing {

struct Rule;

/// Orders matches of the same path, the smaller first (Gateway API HTTPRouteRule.matches).
struct Precedence {
  std::string created;      // time at which the route was created, as text that compares as a time; "" is the oldest
  std::string route;        // "namespace/name"
  std::uint32_t rule = 0;   // its index in the route
  std::uint32_t match = 0;  // its index in the rule

  auto operator<=>(const Precedence&) const = default;
};

/// A rule, and the conditions besides the path that must hold for it.
struct Candidate {
  Predicates predicates;
  Precedence precedence;
  std::shared_ptr<const Rule> rule;
};

/// Orders candidates: a method before none, then more header fields, more query parameters, and then `precedence`.
bool comesBefore(const Candidate& a, const Candidate& b);

}  // namespace sluice::routing
