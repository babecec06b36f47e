// An index of many candidates by the method, header field or query parameter that they require, so that a look-up does
// not try them one by one.
//
// Each candidate is filed under one exact value that it requires, of the name that distinguishes most candidates;
// candidates without an exact value (expressions only, or nothing) are still tried in order. Immutable.
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
  /// `candidates` are in their order, and are passed to every look-up too.
  explicit CandidateIndex(std::span<const Candidate> candidates);

  /// Returns the rule of the first candidate that holds, or nullptr. Allocates as much as Predicates::hold() at most.
  const Rule* firstHolding(std::span<const Candidate> candidates, const http::RequestHead& head) const;

 private:
  using Places = std::vector<std::uint32_t>;  // ascending
  struct Column {
    PredicateKind kind;
    std::string name;
    TextMap<Places> byValue;
  };

  /// The columns without their values: at most kMostColumns, in the order of how many candidates they distinguish.
  static std::vector<Column> columnsFor(std::span<const Candidate> candidates);

  std::vector<Column> columns_;
  Places others_;
};

}  // namespace sluice::routing
