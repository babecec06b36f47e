// Makes a RouteTable out of single matches, in any order: the table depends on the set of entries alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/routing/served_listener.h"
#include "proxy/routing/table/candidates.h"
#include "proxy/routing/table/route_table.h"
#include "proxy/routing/table/rpc_table.h"

namespace sluice::routing {

struct Rule;

enum class PathKind : std::uint8_t { kExact, kPrefix, kExpression };

/// A header field or query parameter that a match names. If several have one name, the first counts.
struct FieldMatch {
  std::string name;
  std::string value;
  bool isExpression = false;
};

/// One match of one rule, under one hostname of its route, at one listener.
struct RouteEntry {
  std::string listenerHostname;  // lower case, "*.suffix", or "" for every host
  std::string hostname;          // the route's own, spelled likewise
  PathKind pathKind = PathKind::kPrefix;
  std::string path = "/";                        // in the normal form of http/hygiene, or an expression
  std::optional<RpcPattern> rpc = std::nullopt;  // of a GRPCRoute, in place of a path
  std::string method;                            // "": any
  std::vector<FieldMatch> headers;
  std::vector<FieldMatch> query;
  Precedence precedence;
  std::shared_ptr<const Rule> rule;
};

class RouteTableBuilder {
 public:
  explicit RouteTableBuilder(const base::PathSettings& paths = {});

  /// A listener owns its hostname even if no route is attached to it: requests for it are not for a less specific
  /// listener. A null `name` gives it none.
  void addListener(std::string_view hostname, std::shared_ptr<const ServedListener> name = nullptr);
  /// Adds an entry. An error (of the configuration: RE2 refuses an expression) leaves the table as it was. Entries of
  /// GRPCRoutes and others never share a hostname at a listener, because attaching prevents that.
  base::Status add(RouteEntry entry);
  RouteTable build() &&;

 private:
  RouteTable table_;
};

}  // namespace sluice::routing
