#include "proxy/compile/routes/route_order.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "config/fields/creation_time.h"

namespace sluice::compile {
namespace {

bool isOlder(const std::shared_ptr<const RoutePlan>& a, const std::shared_ptr<const RoutePlan>& b) {
  const auto key = [](const RoutePlan& each) {
    const auto& created = each.route->meta.creationTimestamp;
    // Without a time, the name alone would let a new GRPCRoute take the hostnames of an HTTPRoute that is in service.
    const bool isLater = created == config::kAfterAllTimes && each.kind != config::HttpRoute::kKind;
    return std::tuple(std::string_view(created), isLater, std::string_view(each.name), each.kind);
  };
  return key(*a) < key(*b);
}

}  // namespace

// The sort keys of a plan never change, so the order of two plans never changes either.
RouteOrder::Plans RouteOrder::sorted(Plans plans) {
  std::unordered_set<const RoutePlan*> left;
  for (const auto& each : plans) left.insert(each.get());
  Plans result;
  result.reserve(plans.size());
  for (auto& each : last_) {
    if (left.erase(each.get()) != 0) result.push_back(std::move(each));
  }
  const auto known = static_cast<Plans::difference_type>(result.size());
  for (auto& each : plans) {
    if (left.erase(each.get()) != 0) result.push_back(std::move(each));
  }
  std::sort(result.begin() + known, result.end(), isOlder);
  std::inplace_merge(result.begin(), result.begin() + known, result.end(), isOlder);
  last_ = result;
  return result;
}

}  // namespace sluice::compile
