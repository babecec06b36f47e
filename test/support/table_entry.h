// Entries of route tables that are made by hand: one match of one rule, under one hostname, at one listener.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/result.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/match.h"
#include "proxy/routing/table/route_table_builder.h"

namespace sluice::routing::test {

struct TableEntry : MatchSpec {
  std::string listenerHostname;  // lower case, "*.suffix", or "" for every host
  std::string hostname;          // the route's own, spelled likewise
  Precedence precedence;
  std::shared_ptr<const Rule> rule;
};

inline base::Result<Candidate> candidateOf(TableEntry entry) {
  Regex::Room room;
  std::string refused;
  auto match = Match::compile(std::move(entry), entry.precedence, room, refused);
  if (!match) return std::move(match).error();
  return Candidate{std::make_shared<const Match>(std::move(match).value()), entry.rule};
}

/// Adds an entry. An error leaves the table as it was.
inline base::Status addTo(RouteTableBuilder& builder, TableEntry entry) {
  auto candidate = candidateOf(entry);
  if (!candidate) return std::move(candidate).error();
  builder.add(entry.listenerHostname, entry.hostname,
              std::make_shared<const RouteCandidates>(1, std::move(candidate).value()));
  return base::Done{};
}

/// Compiles an expression that is known to be right.
inline Regex regexOf(std::string_view pattern) {
  Regex::Room room;
  return Regex::compile(pattern, room).value();
}

}  // namespace sluice::routing::test
