// Tests endpoints with loadBalancing of each type, also the addresses of a name.
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/hashing/stable_hash.h"
#include "proxy/upstream/async_request.h"
#include "test/upstream/endpoints_fixture.h"

namespace sluice::upstream {
namespace {

using BalancedEndpoints = EndpointsFixture;

/// A request of the gateway's own, with no answer.
class OwnUnanswered final : private AsyncRequestOwner {
 public:
  OwnUnanswered(PoolRig& rig, std::uint64_t hash)
      : request_(*rig.upstreams, static_cast<AsyncRequestOwner&>(*this), {std::chrono::hours(1), {}, {}}) {
    head_.authority = "backend.test:8080";
    head_.target = "/";
    const net::Worker::Turn turn(rig.worker);
    EXPECT_TRUE(request_.enter(rig.plan));
    request_.start(head_, nullptr, nullptr, hash);
  }
  const net::Address* peer() const { return request_.peer(); }

 private:
  void onAddresses() override {}
  void onResponse(http::ResponseMessage&& /*message*/) override {}
  void onResponseBody(std::string_view /*bytes*/) override {}
  void onRequestTaken() override {}
  void onResponseEnd(std::optional<http::Trailers> /*trailers*/) override {}
  void onFailed(const base::Error& error) override { ADD_FAILURE() << error.detail; }

  http::RequestHead head_;
  AsyncRequest request_;
};

TEST_F(BalancedEndpoints, HaveTheirTurnsWithRoundRobin) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  begin(options);
  std::string order;
  for (int i = 0; i < 6; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    order += endpointOf(request).back();
  }
  EXPECT_NE(std::string("123123123").find(order), std::string::npos) << order;
}

TEST_F(BalancedEndpoints, KeepTheirValuesWithConsistentHashing) {
  for (const auto type : {base::BalancerType::kRingHash, base::BalancerType::kMaglev}) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
    options.connection.balancing.type = type;
    options.connection.balancing.source = base::HashSource::kSourceIp;
    next_ = 0;
    begin(options);
    const auto ask = [this](std::uint64_t value, const std::set<std::string>& dead = {}) {
      rig_->hash = base::stableHash(std::to_string(value));
      const std::size_t request = rig_->want();
      answerDials(dead);
      return endpointOf(request);
    };
    std::map<std::uint64_t, std::string> of;
    for (std::uint64_t value = 0; value < 40; ++value) of[value] = ask(value);
    for (std::uint64_t value = 0; value < 40; ++value) EXPECT_EQ(ask(value), of[value]);
    become({"10.0.0.1", "10.0.0.2", "10.0.0.4"});
    for (std::uint64_t value = 0; value < 40; ++value) {
      const std::string now = ask(value);
      if (of[value] == "10.0.0.3") {
        EXPECT_NE(now, "10.0.0.3");
      } else if (type == base::BalancerType::kRingHash) {
        EXPECT_EQ(now, of[value]) << "its endpoint is still there";
      }
    }
  }
}

TEST_F(BalancedEndpoints, KeepTheValuesOfTheGatewaysOwnRequests) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  options.connection.balancing.type = base::BalancerType::kMaglev;
  options.connection.balancing.source = base::HashSource::kSourceIp;
  begin(options);
  std::list<OwnUnanswered> requests;
  const auto ask = [&](std::uint64_t value) {
    const OwnUnanswered& request = requests.emplace_back(*rig_, base::stableHash(std::to_string(value)));
    answerDials();
    return request.peer() == nullptr ? "none" : request.peer()->ip();
  };
  std::map<std::uint64_t, std::string> of;
  std::set<std::string> all;
  for (std::uint64_t value = 0; value < 20; ++value) all.insert(of[value] = ask(value));
  EXPECT_GT(all.size(), 1U);
  EXPECT_FALSE(all.contains("none"));
  for (std::uint64_t value = 0; value < 20; ++value) EXPECT_EQ(ask(value), of[value]);
  const net::Worker::Turn turn(rig_->worker);
  requests.clear();
}

TEST_F(BalancedEndpoints, ThatGoLeaveTheirWaitersToOthersWithConsistentHashing) {
  for (const auto type : {base::BalancerType::kRingHash, base::BalancerType::kMaglev}) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
    options.connection.balancing.type = type;
    options.connection.balancing.source = base::HashSource::kSourceIp;
    next_ = 0;
    begin(options);
    std::vector<std::size_t> requests;
    for (std::uint64_t value = 0; value < 40; ++value) {
      rig_->hash = base::stableHash(std::to_string(value));
      requests.push_back(rig_->want());
    }
    become({"10.0.0.1"});
    rig_->settle();
    answerDials();
    for (const std::size_t request : requests) EXPECT_EQ(endpointOf(request), "10.0.0.1");
  }
}

TEST_F(BalancedEndpoints, ShareTheRequestsOfADeadOneWithRoundRobin) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  begin(options);
  std::map<std::string, int> share;
  for (int i = 0; i < 61; ++i) {
    const std::size_t request = rig_->want();
    answerDials({"10.0.0.2"});
    ++share[endpointOf(request)];
  }
  for (const char* const each : {"10.0.0.1", "10.0.0.3", "10.0.0.4"}) EXPECT_NEAR(share[each], 20, 2) << each;
}

TEST_F(BalancedEndpoints, OfANameThatAllRefuseDoNotServeWithABalancer) {
  PoolOptions options;
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  begin(options);
  rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  EXPECT_TRUE(rig_->cluster().serves());
  const std::size_t request = rig_->want();
  answerDials({"192.0.2.1", "192.0.2.2"});
  EXPECT_TRUE(rig_->failed(request));
  EXPECT_FALSE(rig_->cluster().serves()) << "a request had better go to another Backend";
}

TEST_F(BalancedEndpoints, AreLeftOutWhereARequestMayNotGoThereWithAHash) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  options.connection.balancing.type = base::BalancerType::kMaglev;
  options.connection.balancing.source = base::HashSource::kSourceIp;
  begin(options);
  for (std::uint64_t value = 0; value < 20; ++value) {
    rig_->hash = base::stableHash(std::to_string(value));
    const std::size_t usual = rig_->want();
    answerDials();
    const std::size_t avoiding = rig_->want(std::nullopt, *net::Address::parse(endpointOf(usual), 8080));
    answerDials();
    EXPECT_NE(endpointOf(avoiding), endpointOf(usual));
  }
}

TEST_F(BalancedEndpoints, GetAGrowingShareWithSlowStart) {
  for (const auto type : {base::BalancerType::kLeastRequest, base::BalancerType::kRoundRobin}) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    options.connection.balancing.type = type;
    options.connection.balancing.slowStart = std::chrono::seconds(100);
    next_ = 0;
    begin(options);
    rig_->want();
    answerDials();
    rig_->advance(std::chrono::seconds(101));
    become({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
    const auto shareOfNewest = [&] {
      int share = 0;
      for (int i = 0; i < 300; ++i) {
        const std::size_t request = rig_->want();
        answerDials();
        if (endpointOf(request) == "10.0.0.4") ++share;
      }
      return share;
    };
    const int first = shareOfNewest();
    EXPECT_LT(first, 40) << "a tenth of a quarter of 300 is 7";
    rig_->advance(std::chrono::seconds(50));
    const int half = shareOfNewest();
    EXPECT_GT(half, first);
    rig_->advance(std::chrono::seconds(51));
    EXPECT_GT(shareOfNewest(), 50) << "a quarter of 300 is 75";
  }
}

TEST_F(BalancedEndpoints, AreUsedThoughTheyFailIfTooFewPassTheirChecks) {
  for (const std::uint32_t threshold : {0U, 50U}) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    options.connection.balancing.panicThreshold = threshold;
    next_ = 0;
    begin(options);
    rig_->failing =
        std::make_shared<const routing::Endpoints>(routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.2", 8080}});
    std::set<std::string> used;
    for (int i = 0; i < 30; ++i) {
      const std::size_t request = rig_->want();
      answerDials();
      used.insert(endpointOf(request));
    }
    EXPECT_EQ(used.size(), threshold == 0 ? 1U : 3U);
    const std::size_t request = rig_->want(*net::Address::parse("10.0.0.1", 8080));
    answerDials();
    EXPECT_EQ(endpointOf(request), threshold == 0 ? "10.0.0.3" : "10.0.0.1") << "a session, too, stays there";
  }
}

TEST_F(BalancedEndpoints, AreNotTooFewBecauseOthersThatHaveGoneFailTheirChecks) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  options.connection.balancing.panicThreshold = 50;
  begin(options);
  rig_->failing = std::make_shared<const routing::Endpoints>(
      routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.8", 8080}, {"10.0.0.9", 8080}});
  for (int i = 0; i < 20; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    EXPECT_NE(endpointOf(request), "10.0.0.1");
  }
}

TEST_F(BalancedEndpoints, OfANameAreLeftOutWhileTheyFailThoughThisWorkerHasNotUsedThem) {
  PoolOptions options;
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  options.connection.balancing.panicThreshold = 50;
  begin(options);
  rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2", "192.0.2.3"});
  rig_->failing = std::make_shared<const routing::Endpoints>(
      routing::Endpoints{{"192.0.2.2", 8080}, {"192.0.2.8", 8080}, {"192.0.2.9", 8080}});
  for (int i = 0; i < 6; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    EXPECT_NE(endpointOf(request), "192.0.2.2");
  }
}

TEST_F(BalancedEndpoints, AreTheAddressesOfANameWithABalancer) {
  PoolOptions options;
  options.connection.balancing.type = base::BalancerType::kRoundRobin;
  begin(options);
  rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  std::map<std::string, int> share;
  for (int i = 0; i < 8; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    ++share[endpointOf(request)];
  }
  EXPECT_EQ(share, (std::map<std::string, int>{{"192.0.2.1", 4}, {"192.0.2.2", 4}}));
}

TEST_F(BalancedEndpoints, ADeadAddressOfANameFailsNoRequestWithABalancer) {
  for (const auto type : {base::BalancerType::kRoundRobin, base::BalancerType::kRandom, base::BalancerType::kMaglev}) {
    PoolOptions options;
    options.connection.balancing.type = type;
    options.connection.balancing.source = base::HashSource::kSourceIp;
    next_ = 0;
    begin(options);
    rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2", "192.0.2.3"});
    rig_->hash = 7;
    for (int i = 0; i < 6; ++i) {
      const std::size_t request = rig_->want();
      answerDials({"192.0.2.1", "192.0.2.3"});
      EXPECT_EQ(endpointOf(request), "192.0.2.2");
    }
  }
}

}  // namespace
}  // namespace sluice::upstream
