// What the routes of one listener have claimed already. Older routes come first, and keep what they have: hostnames
// against the other kind of route (GRPCRouteSpec.hostnames), matches against every route (E-114).
//
// Filled by attach while routes come in the order of their age; points into the Model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/routing/table/route_table_builder.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::control {

/// Hostnames with their owners; "*.suffix" and "" stand for all hosts that they cover.
class HostnameClaims {
 public:
  /// Of two owners of one name the first stays.
  void add(std::string_view hostname, const config::Route& owner);
  /// The owner of a name that has a host in common with this one; nullptr if there is none.
  const config::Route* meets(std::string_view hostname) const;

 private:
  routing::TextMap<const config::Route*> names_;
  routing::TextMap<const config::Route*> below_;  // by every domain that something in names_ is below of
  const config::Route* first_ = nullptr;
};

class Claims {
 public:
  /// The route of another kind that one of these hostnames belongs to; nullptr if a route of `kind` may have them all.
  const config::Route* rival(std::string_view kind, const std::vector<std::string>& hostnames) const;
  void addHostnames(std::string_view kind, const std::vector<std::string>& hostnames, const config::Route& owner);

  /// The route that has the very same match under the same hostname, and so takes all of its requests; nullptr if there
  /// is none, or only `owner` itself, who has it from now on.
  const config::Route* addMatch(const routing::RouteEntry& entry, const config::Route& owner);

 private:
  HostnameClaims ofHttp_;
  HostnameClaims ofGrpc_;
  routing::TextMap<const config::Route*> matches_;
};

}  // namespace sluice::control
