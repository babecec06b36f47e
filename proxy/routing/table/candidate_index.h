// Many candidates by what they ask of a method, a header field or a query parameter, so that a look-up does not try
// them one by one.
//
// Each candidate stands under one exact value that it asks for, of the name that tells most of them apart; those that
// ask for none (expressions only, or nothing) are still tried in order. Immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

class CandidateIndex {
 public:
  /// `candidates` are in their order, and come along with every look-up.
  explicit CandidateIndex(std::span<const Candidate> candidates);

  /// The rule of the first of them that holds, or nullptr. Allocates no more than Predicates::hold().
  const Rule* firstHolding(std::span<const Candidate> candidates, const http::RequestHead& head) const;

 private:
  using Places = std::vector<std::uint32_t>;  // ascending
  struct Column {
    PredicateKind kind;
    std::string name;
    TextMap<Places> byValue;
  };

  /// Without their values; at most kMostColumns, those first that tell most candidates apart.
  static std::vector<Column> columnsFor(std::span<const Candidate> candidates);

  std::vector<Column> columns_;
  Places others_;
};

}  // namespace sluice::routing
