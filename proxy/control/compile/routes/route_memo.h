// The routes of the last compilation: one whose object and whose Backends did not change is not compiled again, and its
// Rules stay the same objects.
//
// By the object itself, which never changes and is kept for as long: what comes out of compile() never depends on a
// memo. Loading thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "config/model/model.h"
#include "proxy/control/compile/routes/compile_route.h"

namespace sluice::control {

class RouteMemo {
 public:
  /// Between two of these is one compilation; the routes that it had no more are forgotten.
  void begin() { ++round_; }
  void end() {
    std::erase_if(routes_, [this](const auto& each) { return each.second.round != round_; });
  }
  template <typename RouteType>
  std::shared_ptr<const RoutePlan> plan(const std::shared_ptr<const RouteType>& route, const RouteTools& tools) {
    Entry& entry = routes_[route.get()];
    if (entry.plan == nullptr || !meansTheSame(*entry.plan, tools)) {
      entry.route = route;
      entry.plan = std::make_shared<const RoutePlan>(compileRoute(*route, tools, std::nullopt));
    }
    entry.round = round_;
    return entry.plan;
  }

 private:
  struct Entry {
    std::shared_ptr<const config::Route> route;  // nobody else gets its address
    std::shared_ptr<const RoutePlan> plan;
    std::uint64_t round = 0;
  };
  std::unordered_map<const config::Route*, Entry> routes_;
  std::uint64_t round_ = 0;
};

}  // namespace sluice::control
