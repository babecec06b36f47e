// A match and the rule that it leads to.
//
// Values that share; any number of tables hold the same match.
#pragma once

#include <memory>
#include <vector>

#include "proxy/routing/table/match.h"

namespace sluice::routing {

struct Rule;

struct Candidate {
  std::shared_ptr<const Match> match;
  std::shared_ptr<const Rule> rule;
};

/// Orders candidates of one path, or of one gRPC method: a method before none, then more header fields, more query
/// parameters, and then the precedence.
bool comesBefore(const Candidate& a, const Candidate& b);

/// The candidates of one route, which all its hostnames and listeners share.
using RouteCandidates = std::vector<Candidate>;

}  // namespace sluice::routing
