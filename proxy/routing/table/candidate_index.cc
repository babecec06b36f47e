#include "proxy/routing/table/candidate_index.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

namespace sluice::routing {
namespace {

// Each column costs every request a look at one of its fields, and routes distinguish their requests by a few names.
constexpr std::size_t kMostColumns = 8;

/// Calls visit(kind, name, value) for each value that a request must have exactly.
template <typename Visit>
void eachExact(const Predicates& predicates, Visit&& visit) {
  if (!predicates.method.empty()) visit(PredicateKind::kMethod, std::string_view{}, predicates.method);
  const auto visitAll = [&](PredicateKind kind, const std::vector<Predicate>& of) {
    for (const Predicate& each : of) {
      const auto* text = std::get_if<std::string>(&each.expected);
      if (text != nullptr && text->size() <= std::tuple_size_v<ValueBuffer>) visit(kind, each.name, *text);
    }
  };
  visitAll(PredicateKind::kHeader, predicates.headers);
  visitAll(PredicateKind::kQuery, predicates.query);
}

}  // namespace

std::vector<CandidateIndex::Column> CandidateIndex::columnsFor(std::span<const Candidate> candidates) {
  std::map<std::pair<PredicateKind, std::string_view>, std::set<std::string_view>> values;
  for (const Candidate& each : candidates) {
    eachExact(each.match->predicates, [&](PredicateKind kind, std::string_view name, const std::string& value) {
      values[{kind, name}].insert(value);
    });
  }
  std::vector<std::pair<std::size_t, Column>> ranked;
  for (const auto& [key, distinct] : values) {
    ranked.emplace_back(distinct.size(), Column{key.first, std::string(key.second), {}});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Column> columns;
  for (std::size_t i = 0; i < std::min(ranked.size(), kMostColumns); ++i)
    columns.push_back(std::move(ranked[i].second));
  return columns;
}

CandidateIndex::CandidateIndex(std::span<const Candidate> candidates) : columns_(columnsFor(candidates)) {
  for (std::uint32_t place = 0; place < candidates.size(); ++place) {
    auto best = columns_.end();
    const std::string* under = nullptr;
    eachExact(candidates[place].match->predicates,
              [&](PredicateKind kind, std::string_view name, const std::string& value) {
                const auto column = std::find_if(
                    columns_.begin(), best, [&](const Column& each) { return each.kind == kind && each.name == name; });
                if (column == best) return;
                best = column;
                under = &value;
              });
    (under != nullptr ? best->byValue[*under] : others_).push_back(place);
  }
  std::erase_if(columns_, [](const Column& each) { return each.byValue.empty(); });
}

const Rule* CandidateIndex::firstHolding(std::span<const Candidate> candidates, const http::RequestHead& head) const {
  std::size_t first = candidates.size();
  const auto tryAll = [&](const Places& places) {
    for (const std::uint32_t place : places) {
      if (place >= first) return;
      if (candidates[place].match->predicates.hold(head)) first = place;
    }
  };
  ValueBuffer buffer;
  for (const Column& column : columns_) {
    const auto value = valueOf(head, column.kind, column.name, buffer);
    if (!value) continue;
    if (const auto found = column.byValue.find(*value); found != column.byValue.end()) tryAll(found->second);
  }
  tryAll(others_);
  return first == candidates.size() ? nullptr : candidates[first].rule.get();
}

}  // namespace sluice::routing
