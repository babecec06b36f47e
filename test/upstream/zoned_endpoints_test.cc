// Tests endpoints in zones, of which those for the zone of the gateway come first.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/upstream/endpoints_fixture.h"

namespace sluice::upstream {
namespace {

const std::vector<std::string> kFourEndpoints = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"};
/// The first two are in the zone of the gateway.
const std::vector<base::EndpointZones> kTwoZones = {{"here", {}}, {"here", {}}, {"there", {}}, {"there", {}}};

using Used = std::set<std::string>;
const Used kNear = {"10.0.0.1", "10.0.0.2"};
const Used kAll = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"};

class ZonedEndpoints : public EndpointsFixture {
 protected:
  static PoolOptions zoned(std::uint32_t least = 1) {
    PoolOptions options = service(kFourEndpoints);
    options.zones = kTwoZones;
    options.zone = "here";
    options.connection.balancing.prefersZone = true;
    options.connection.balancing.minEndpointsInZone = least;
    return options;
  }
  /// Returns the endpoints that serve some of many requests.
  Used used(const Used& dead = {}) {
    Used endpoints;
    for (int i = 0; i < 60; ++i) {
      const std::size_t request = rig_->want();
      answerDials(dead);
      endpoints.insert(endpointOf(request));
    }
    return endpoints;
  }
};

TEST_F(ZonedEndpoints, ServeAllRequestsOfTheirZone) {
  begin(zoned());
  EXPECT_EQ(used(), kNear);
}

TEST_F(ZonedEndpoints, AreAllTheSameWithoutAPreferenceOrAZone) {
  PoolOptions options = zoned();
  options.connection.balancing.prefersZone = false;
  begin(options);
  EXPECT_EQ(used(), kAll);
  options = zoned();
  options.zone = "";
  next_ = 0;
  begin(options);
  EXPECT_EQ(used(), kAll);
}

TEST_F(ZonedEndpoints, LeaveNoRequestWithoutAnswerWhenTheyTakeNoConnections) {
  begin(zoned());
  EXPECT_EQ(used({"10.0.0.1"}), Used{"10.0.0.2"});
  begin(zoned());
  next_ = 0;
  EXPECT_EQ(used(kNear), (Used{"10.0.0.3", "10.0.0.4"}));
}

TEST_F(ZonedEndpoints, ShareTheirRequestsWithAllIfTooFewTakeConnections) {
  begin(zoned(2));
  EXPECT_EQ(used(), kNear);
  begin(zoned(2));
  next_ = 0;
  EXPECT_EQ(used({"10.0.0.1"}), Used{"10.0.0.2"}) << "it was not known";
  rig_->advance(std::chrono::milliseconds(100));
  EXPECT_EQ(used({"10.0.0.1"}), (Used{"10.0.0.2", "10.0.0.3", "10.0.0.4"}));
}

TEST_F(ZonedEndpoints, LeaveTheirRequestsToOthersWhileTheyFailTheirHealthChecks) {
  const auto failing = [](const std::vector<std::string>& endpoints) {
    auto made = std::make_shared<routing::Endpoints>();
    for (const std::string& each : endpoints) made->push_back({each, 8080});
    return made;
  };
  begin(zoned());
  rig_->failing = failing({"10.0.0.1"});
  EXPECT_EQ(used(), Used{"10.0.0.2"});
  rig_->failing = failing({"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(used(), (Used{"10.0.0.3", "10.0.0.4"}));
  begin(zoned());
  next_ = 0;
  rig_->failing = failing(kFourEndpoints);
  EXPECT_EQ(used(), kAll) << "a failing endpoint is better than none";
  begin(zoned(2));
  next_ = 0;
  rig_->failing = failing({"10.0.0.1"});
  EXPECT_EQ(used(), (Used{"10.0.0.2", "10.0.0.3", "10.0.0.4"}));
}

TEST_F(ZonedEndpoints, KeepToTheirZoneIfTooFewOfAllPassTheirChecks) {
  PoolOptions options = zoned();
  options.connection.balancing.panicThreshold = 60;
  begin(options);
  rig_->failing =
      std::make_shared<const routing::Endpoints>(routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.2", 8080}});
  EXPECT_EQ(used(), kNear) << "the checks are ignored";
}

TEST_F(ZonedEndpoints, OfAnotherZoneKeepTheirSessionsAndServeWhatMayNotGoElsewhere) {
  begin(zoned());
  const std::size_t session = rig_->want(*net::Address::parse("10.0.0.4", 8080));
  answerDials();
  EXPECT_EQ(endpointOf(session), "10.0.0.4");
  const std::size_t retried = rig_->want(std::nullopt, *net::Address::parse("10.0.0.1", 8080));
  answerDials();
  EXPECT_EQ(endpointOf(retried), "10.0.0.2") << "the other endpoint of the zone";
  const std::size_t narrowed = rig_->wantOf({"10.0.0.3"});
  answerDials();
  EXPECT_EQ(endpointOf(narrowed), "10.0.0.3");
}

TEST_F(ZonedEndpoints, MoveWhenTheirZonesDo) {
  begin(zoned());
  EXPECT_EQ(used(), kNear);
  options_.zones = {{"there", {}}, {"here", {}}, {"here", {}}, {"there", {}}};
  become(kFourEndpoints);
  EXPECT_EQ(used(), (Used{"10.0.0.2", "10.0.0.3"}));
  options_.zones = {{"there", {"here"}}, {"here", {"there"}}, {"here", {"there"}}};
  become({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  EXPECT_EQ(used(), Used{"10.0.0.1"});
}

}  // namespace
}  // namespace sluice::upstream
