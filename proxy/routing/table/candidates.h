// The rules that share a path, or a gRPC method. A request gets the first in order that holds for it.
//
// Built by add(), put in order by sort(), then immutable.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/candidate_index.h"

namespace sluice::routing {

class Candidates {
 public:
  void add(Candidate candidate) { candidates_.push_back(std::move(candidate)); }
  /// To be called once, behind the last add.
  void sort();
  /// Returns the rule of the first candidate that holds for the request, or nullptr.
  const Rule* firstHolding(const http::RequestHead& head) const;
  /// Returns all of them in their order.
  const std::vector<Candidate>& all() const { return candidates_; }

 private:
  std::vector<Candidate> candidates_;
  std::unique_ptr<const CandidateIndex> index_;  // null if there are only a few, which are searched one by one
};

/// Looks for the first candidate that holds, in a table that shows its candidates one by one or those of a path
/// together, until it returns true.
struct FirstHolding {
  const http::RequestHead& head;
  const Rule* rule = nullptr;

  bool operator()(const Candidates& candidates) {
    rule = candidates.firstHolding(head);
    return rule != nullptr;
  }
  bool operator()(const Candidate& candidate) {
    if (candidate.match->predicates.hold(head)) rule = candidate.rule.get();
    return rule != nullptr;
  }
};

}  // namespace sluice::routing
