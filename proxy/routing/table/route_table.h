// A RouteTable finds the rule that serves a request: by hostname map, then path tree or gRPC method, then predicates.
// The cost does not grow with the number of routes. Immutable once built; copies share everything.
//
// The precedence is Gateway API's: the listener with the most specific hostname owns the request; then the route with
// the most specific hostname; then Exact, RegularExpression, PathPrefix by length; method; number of header matches;
// number of query matches; oldest route; namespace/name; order in the route. For GRPCRoutes see rpc_table.h.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "proxy/base/error.h"
#include "proxy/http/message.h"
#include "proxy/http/target.h"

namespace sluice::routing {

struct ServedListener;
struct Rule;
struct RouteIndex;

/// The destination of a request: a rule, or a local reply.
struct RouteMatch {
  const Rule* rule = nullptr;
  /// The listener that owns the request; null if none does, or if the request is misdirected.
  const ServedListener* listener = nullptr;
  /// If rule is null: destination_not_found (404), or misdirected_request (421).
  const char* reason = "";
  bool misdirected = false;
};

class RouteTable {
 public:
  RouteTable();
  explicit RouteTable(std::shared_ptr<const RouteIndex> index);

  /// Finds the rule, and allocates nothing unless the listener ignores parameters that the path has. `head` is in
  /// normal form (http/hygiene). A connection that was opened for a
  /// `serverName` (SNI, lower case) belongs to one listener, whose certificate and policy it has satisfied: a request
  /// for a host of another one is misdirected (RFC 9110 section 15.5.20). Without a name it belongs to no particular
  /// listener.
  RouteMatch match(const http::RequestHead& head, std::string_view serverName = {}) const;
  /// Finds the rule for a CONNECT request to a forward proxy, likewise. Only a match of that method takes it.
  RouteMatch matchConnect(const http::RequestHead& head) const;

  /// Returns true if some listener takes the port out of the authority of its requests (stripsPort()).
  bool stripsPorts() const { return stripsPorts_; }
  /// Returns true if the listener of that authority does.
  bool stripsPort(std::string_view authority) const;

  /// Returns how a path with "%2F" or "//" of a request for that authority is normalised before it is matched and
  /// forwarded.
  http::SlashRules slashRules(std::string_view authority) const;

  /// Returns the index of the table, for code that lists all entries.
  const RouteIndex& index() const { return *index_; }

 private:
  std::shared_ptr<const RouteIndex> index_;
  bool stripsPorts_ = false;  // beside the pointer, because every request asks for it
};

}  // namespace sluice::routing
