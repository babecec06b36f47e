#include "proxy/compile/routes/route_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields/creation_time.h"

namespace sluice::compile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Has plans of routes by name. The routes have no time, so their names decide the order.
class RouteOrderTest : public ::testing::Test {
 protected:
  std::shared_ptr<const RoutePlan> plan(const std::string& name) const {
    auto made = std::make_shared<RoutePlan>();
    made->route = route_;
    made->name = name;
    made->kind = config::HttpRoute::kKind;
    return made;
  }
  static std::shared_ptr<const RoutePlan> dated(std::string_view kind, const std::string& name,
                                                std::string_view created) {
    auto route = std::make_shared<config::HttpRoute>();
    route->meta.creationTimestamp = created;
    auto made = std::make_shared<RoutePlan>();
    made->route = std::move(route);
    made->name = name;
    made->kind = kind;
    return made;
  }
  std::vector<std::string> sorted(RouteOrder::Plans plans) {
    std::vector<std::string> names;
    for (const auto& each : order_.sorted(std::move(plans))) names.push_back(each->name);
    return names;
  }

  const std::shared_ptr<const config::HttpRoute> route_ = std::make_shared<const config::HttpRoute>();
  RouteOrder order_;
};

TEST_F(RouteOrderTest, SortsByName) {
  EXPECT_THAT(sorted({plan("b"), plan("c"), plan("a")}), ElementsAre("a", "b", "c"));
}

TEST_F(RouteOrderTest, SortsByKindOnlyWithoutATime) {
  constexpr std::string_view kTime = "2024-01-01T00:00:00";
  const auto http = [](const std::string& name, std::string_view created) {
    return dated(config::HttpRoute::kKind, name, created);
  };
  const auto grpc = [](const std::string& name, std::string_view created) {
    return dated(config::GrpcRoute::kKind, name, created);
  };
  EXPECT_THAT(sorted({http("d", config::kAfterAllTimes), grpc("a", config::kAfterAllTimes),
                      http("c", config::kAfterAllTimes), http("z", kTime), grpc("y", kTime)}),
              ElementsAre("y", "z", "c", "d", "a"));
}

TEST_F(RouteOrderTest, FitsNewRoutesInAmongThoseThatItKnows) {
  const auto b = plan("b");
  const auto d = plan("d");
  sorted({d, b});
  EXPECT_THAT(sorted({plan("e"), d, plan("a"), b, plan("c")}), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(RouteOrderTest, LeavesOutRoutesThatAreGone) {
  const auto b = plan("b");
  sorted({plan("a"), b, plan("c")});
  EXPECT_THAT(sorted({b}), ElementsAre("b"));
  EXPECT_THAT(sorted({}), IsEmpty());
}

TEST_F(RouteOrderTest, OrdersARouteThatWasCompiledAgainAnew) {
  const auto a = plan("a");
  sorted({a, plan("b")});
  EXPECT_THAT(sorted({plan("b"), a}), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace sluice::compile
