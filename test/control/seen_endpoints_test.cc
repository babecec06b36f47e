#include "proxy/control/report/seen_endpoints.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::control {
namespace {

using Plan = std::shared_ptr<const routing::BackendPlan>;

class SeenEndpointsTest : public testing::Test {
 protected:
  static routing::Endpoint numbered(int number) { return {"10.0.0." + std::to_string(number), 80}; }
  static Plan plan(std::optional<routing::Endpoints> endpoints, const std::string& identity = "shop") {
    auto made = std::make_shared<routing::BackendPlan>();
    made->identity = identity;
    made->endpoints = std::move(endpoints);
    return made;
  }
  /// Adopts a configuration with these plans in that second.
  void adopt(std::vector<Plan> plans, int second) {
    routing::Snapshot snapshot;
    snapshot.backends = std::move(plans);
    seen_.adopt(snapshot, {base::MonotonicTime(std::chrono::seconds(second)),
                           base::WallTime(std::chrono::seconds(1000 + second))});
  }
  /// Returns the second in which the endpoint came; -1 if that is not known.
  std::int64_t second(const Plan& plan, const std::optional<routing::Endpoint>& endpoint) const {
    const std::optional<Moment> since = seen_.since(*plan, endpoint);
    if (!since) return -1;
    EXPECT_EQ(since->wall.time_since_epoch() - std::chrono::seconds(1000), since->now.time_since_epoch());
    return std::chrono::duration_cast<std::chrono::seconds>(since->now.time_since_epoch()).count();
  }

  SeenEndpoints seen_;
};

TEST_F(SeenEndpointsTest, KeepTheTimesOfThoseThatStay) {
  adopt({plan({{numbered(1), numbered(3)}})}, 1);
  const Plan later = plan({{numbered(2), numbered(3), numbered(4)}});
  adopt({later}, 2);
  EXPECT_EQ(second(later, numbered(1)), -1) << "it has gone";
  EXPECT_EQ(second(later, numbered(2)), 2);
  EXPECT_EQ(second(later, numbered(3)), 1);
  EXPECT_EQ(second(later, numbered(4)), 2);
  adopt({plan({{numbered(1), numbered(3)}})}, 3);
  EXPECT_EQ(second(later, numbered(1)), 3) << "it has come back";
  EXPECT_EQ(second(later, numbered(3)), 1);
}

TEST_F(SeenEndpointsTest, AreKnownByTheirPlan) {
  const Plan shop = plan({{numbered(1)}});
  const Plan bank = plan({{numbered(1)}}, "bank");
  adopt({shop}, 1);
  EXPECT_EQ(second(bank, numbered(1)), -1);
  adopt({shop, bank}, 2);
  EXPECT_EQ(second(shop, numbered(1)), 1);
  EXPECT_EQ(second(bank, numbered(1)), 2);
  adopt({bank}, 3);
  EXPECT_EQ(second(shop, numbered(1)), -1);
}

TEST_F(SeenEndpointsTest, HaveTheTimeOfAPlanWithAName) {
  const Plan named = plan(std::nullopt);
  adopt({named}, 1);
  adopt({plan(std::nullopt)}, 2);
  EXPECT_EQ(second(named, std::nullopt), 1);
  EXPECT_EQ(second(named, numbered(1)), -1);
  adopt({plan({{numbered(1)}})}, 3);
  EXPECT_EQ(second(named, std::nullopt), -1);
  EXPECT_EQ(second(named, numbered(1)), 3);
}

}  // namespace
}  // namespace sluice::control
