// The claims of the routes that are attached to one listener. Older routes come first and keep their claims. A route
// claims its hostnames against routes of the other kind (GRPCRouteSpec.hostnames). It claims its matches against every
// route, because the older of two routes with the same match wins.
//
// Routes are attached in the order of their age, and each adds its claims. A Claims object points into the Model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::compile {

/// Hostnames and the routes that own them. "*.suffix" and "" mean all hosts that they cover.
class HostnameClaims {
 public:
  /// Adds a hostname. If it has an owner already, that owner stays.
  void add(std::string_view hostname, const config::Route& owner);
  /// Returns the owner of a name that shares a host with this one; nullptr if there is none.
  const config::Route* meets(std::string_view hostname) const;
  bool empty() const { return first_ == nullptr; }

 private:
  routing::TextMap<const config::Route*> names_;
  routing::TextMap<const config::Route*> below_;  // the keys are all parent domains of names_
  const config::Route* first_ = nullptr;
};

class Claims {
 public:
  /// Returns the route of another kind that owns one of these hostnames; nullptr if there is none, so that a route of
  /// `kind` may have them all.
  const config::Route* rival(std::string_view kind, const std::vector<std::string>& hostnames) const;
  void addHostnames(std::string_view kind, const std::vector<std::string>& hostnames, const config::Route& owner);

  /// Returns the route with the same match (a number of SharedMatches) under the same hostname, which therefore gets
  /// all requests of the match. Returns nullptr if there is none other than `owner`, which owns the match from now on.
  const config::Route* addMatch(std::string_view hostname, std::uint32_t match, const config::Route& owner);

 private:
  HostnameClaims ofHttp_;
  HostnameClaims ofGrpc_;
  routing::TextMap<std::unordered_map<std::uint32_t, const config::Route*>>
      matches_;  // the owner by hostname and number of the match
};

}  // namespace sluice::compile
