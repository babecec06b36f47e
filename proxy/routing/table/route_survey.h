// A survey compares the entries of a RouteTable with one request, so that people can see why the request gets its rule.
// It uses the same functions as the table.
//
// Pure functions. Views and pointers are into the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/route_table.h"

namespace sluice::routing {

/// The first condition of an entry that a request does not meet.
enum class EntryFit : std::uint8_t {
  kHolds,     // the request meets all conditions
  kPath,      // the path, or the gRPC service and method
  kMethod,    // the method
  kHeader,    // a header field
  kQuery,     // a query parameter
  kHostname,  // a hostname of the route
  kListener   // the request meets all conditions, but the listener does not own the host
};

struct SurveyedEntry {
  const Candidate* candidate = nullptr;
  const ServedListener* listener = nullptr;
  std::string hostname;  // of the route, "*.suffix", or "" for every host
  EntryFit fit = EntryFit::kHolds;
  std::string_view name;  // of the header field or the query parameter
};

struct RouteSurvey {
  const ServedListener* listener = nullptr;  // the one that owns the host; null if none does
  std::string listenerHostname;
  /// The entries, the best first: those whose hostname and path fit in the order in which the table tries them, then
  /// those whose path comes closest, and then those whose hostname does. The first whose conditions are met is the one
  /// that serves.
  std::vector<SurveyedEntry> entries;

  /// Returns nullptr if no entry serves the request.
  const SurveyedEntry* serving() const;
};

/// Surveys the entries, of which it returns the serving one and about `most` others. It looks at 20,000 of those that
/// do not fit, at most.
RouteSurvey surveyRoutes(const RouteTable& routes, const http::RequestHead& head, std::size_t most);

/// Returns all matches that lead to the same rule as this entry, under its hostname, in the order of the rule.
std::vector<const Match*> matchesOfRule(const RouteTable& routes, const SurveyedEntry& entry);

/// A listener of a socket, and its hostname ("" for every host).
struct ListenerOfTable {
  const ServedListener* listener = nullptr;
  std::string hostname;
};
/// Returns them by hostname.
std::vector<ListenerOfTable> listenersOf(const RouteTable& routes);

/// A rule at a listener.
struct RuleOfTable {
  const ServedListener* listener = nullptr;
  const Rule* rule = nullptr;
  std::uint32_t index = 0;  // of the rule in its route
};
/// Returns each rule of each listener once, in the order of listeners, routes and rules.
std::vector<RuleOfTable> rulesOf(const RouteTable& routes);

}  // namespace sluice::routing
