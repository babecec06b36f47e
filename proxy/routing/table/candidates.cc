#include "proxy/routing/table/candidates.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace sluice::routing {
namespace {

// Fewer candidates are tried one by one faster than they are looked up.
constexpr std::size_t kIndexedFrom = 9;

}  // namespace

bool comesBefore(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& each) {
    const Predicates& predicates = each.match->predicates;
    return std::make_tuple(predicates.method.empty(), -static_cast<std::ptrdiff_t>(predicates.headers.size()),
                           -static_cast<std::ptrdiff_t>(predicates.query.size()));
  };
  const auto keyA = key(a);
  const auto keyB = key(b);
  return keyA != keyB ? keyA < keyB : a.match->precedence < b.match->precedence;
}

void Candidates::sort() {
  std::sort(candidates_.begin(), candidates_.end(), comesBefore);
  if (candidates_.size() >= kIndexedFrom) index_ = std::make_unique<const CandidateIndex>(candidates_);
}

const Rule* Candidates::firstHolding(const http::RequestHead& head) const {
  if (index_) return index_->firstHolding(candidates_, head);
  for (const Candidate& each : candidates_) {
    if (each.match->predicates.hold(head)) return each.rule.get();
  }
  return nullptr;
}

}  // namespace sluice::routing
