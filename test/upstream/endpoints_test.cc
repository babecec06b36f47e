// The endpoints of a Service: requests are spread, a dead endpoint fails no request, and endpoints come and go.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "test/upstream/endpoints_fixture.h"

namespace sluice::upstream {
namespace {

using Endpoints = EndpointsFixture;

TEST_F(Endpoints, AreDialledAtTheirOwnAddressAndPort) {
  begin(service({"10.0.0.1"}));
  const std::size_t request = rig_->want();
  ASSERT_EQ(rig_->dialled(), 1U);
  EXPECT_EQ(rig_->wire(0).address().toString(), "10.0.0.1:8080");
  EXPECT_EQ(rig_->resolver.questions, 0);
  rig_->accept(0);
  EXPECT_TRUE(rig_->begun(request));
}

TEST_F(Endpoints, ShareTheRequestsAmongThem) {
  begin(service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}));
  for (int i = 0; i < 40; ++i) {
    rig_->want();
    answerDials();
  }
  std::map<std::string, int> share;
  for (std::size_t i = 0; i < rig_->dialled(); ++i) ++share[ip(i)];
  ASSERT_EQ(share.size(), 4U);
  for (const auto& [address, count] : share)
    EXPECT_NEAR(count, 10, 2) << address << ": all of its requests are in flight";
}

TEST_F(Endpoints, ABusyOneGetsLess) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  for (std::size_t i = 0; i < 8; ++i) {
    rig_->want();
    answerDials();
  }
  // Requests to the first endpoint end, those to the second do not.
  for (std::size_t i = 0; i < rig_->dialled(); ++i) {
    if (ip(i) == "10.0.0.1") rig_->backends[i]->respond(0, 200, "");
  }
  ASSERT_TRUE(rig_->settle());
  for (int i = 0; i < 4; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    EXPECT_EQ(endpointOf(request), "10.0.0.1");
  }
}

TEST_F(Endpoints, ADeadOneFailsNoRequest) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    options.randomSeed = seed * 0x9E3779B97F4A7C15ULL;
    next_ = 0;
    begin(options);
    for (int i = 0; i < 10; ++i) {
      const std::size_t request = rig_->want();
      answerDials({"10.0.0.2"});
      EXPECT_TRUE(rig_->begun(request)) << i << " of seed " << seed;
    }
    int refused = 0;
    for (std::size_t i = 0; i < rig_->dialled(); ++i) refused += ip(i) == "10.0.0.2" ? 1 : 0;
    EXPECT_LE(refused, 1) << "it was left alone for a while";
  }
}

TEST_F(Endpoints, TheOneToBeAvoidedIsNotChosenIfAnotherMayServe) {
  begin(service({"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  for (int i = 0; i < 30; ++i) {
    const std::size_t request = rig_->want({}, net::Address::parse("10.0.0.2", 8080));
    answerDials();
    EXPECT_NE(endpointOf(request), "10.0.0.2");
  }
  const std::size_t request = rig_->want({}, net::Address::parse("10.0.0.9", 8080));
  answerDials();
  EXPECT_TRUE(rig_->begun(request)) << "one that has gone is no reason to avoid any";
}

TEST_F(Endpoints, TheOneToBeAvoidedServesIfItIsTheOnlyOne) {
  begin(service({"10.0.0.1"}));
  const std::size_t request = rig_->want({}, net::Address::parse("10.0.0.1", 8080));
  answerDials();
  EXPECT_EQ(endpointOf(request), "10.0.0.1");
}

TEST_F(Endpoints, TheOneToBeAvoidedServesIfTheOthersTakeNoConnections) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const std::size_t request = rig_->want({}, net::Address::parse("10.0.0.1", 8080));
  answerDials({"10.0.0.2"});
  EXPECT_EQ(endpointOf(request), "10.0.0.1");
}

TEST_F(Endpoints, ThatFailTheirHealthChecksAreNotChosenIfAnotherMayServe) {
  begin(service({"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  rig_->failing =
      std::make_shared<const routing::Endpoints>(routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.3", 8080}});
  for (int i = 0; i < 20; ++i) {
    const std::size_t request = rig_->want();
    answerDials();
    EXPECT_EQ(endpointOf(request), "10.0.0.2");
  }
  const std::size_t request = rig_->want(net::Address::parse("10.0.0.1", 8080));
  answerDials();
  EXPECT_EQ(endpointOf(request), "10.0.0.2") << "a session leaves it too";
}

TEST_F(Endpoints, ThatFailTheirHealthChecksServeIfTheOthersTakeNoConnections) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  rig_->failing = std::make_shared<const routing::Endpoints>(routing::Endpoints{{"10.0.0.1", 8080}});
  const std::size_t request = rig_->want();
  answerDials({"10.0.0.2"});
  EXPECT_EQ(endpointOf(request), "10.0.0.1");
}

TEST_F(Endpoints, AreTheOneThatARequestPrefersHoweverBusyItIs) {
  begin(service({"10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1"}));
  for (const char* wanted : {"10.0.0.2", "2001:db8::1", "10.0.0.1"}) {
    for (int i = 0; i < 6; ++i) {
      const std::size_t request = rig_->want(net::Address::parse(wanted, 8080));
      answerDials();
      EXPECT_EQ(endpointOf(request), wanted) << i;
    }
  }
}

TEST_F(Endpoints, AreAnyIfThePreferredOneIsNotThere) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  for (const auto& wanted : {net::Address::parse("10.0.0.9", 8080), net::Address::parse("10.0.0.1", 8081),
                             net::Address::parse("2001:db8::1", 8080)}) {
    const std::size_t request = rig_->want(wanted);
    answerDials();
    EXPECT_TRUE(rig_->begun(request));
  }
  become({"10.0.0.2"});
  const std::size_t request = rig_->want(net::Address::parse("10.0.0.1", 8080));
  answerDials();
  EXPECT_EQ(endpointOf(request), "10.0.0.2");
}

TEST_F(Endpoints, AreAnotherOneWhileThePreferredOneIsDead) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const auto preferred = net::Address::parse("10.0.0.1", 8080);
  for (int i = 0; i < 5; ++i) {
    const std::size_t request = rig_->want(preferred);
    answerDials({"10.0.0.1"});
    EXPECT_EQ(endpointOf(request), "10.0.0.2");
  }
  int refused = 0;
  for (std::size_t i = 0; i < rig_->dialled(); ++i) refused += ip(i) == "10.0.0.1" ? 1 : 0;
  EXPECT_EQ(refused, 1) << "it was left alone for a while";
  rig_->advance(std::chrono::seconds(1));
  const std::size_t request = rig_->want(preferred);
  answerDials();
  EXPECT_EQ(endpointOf(request), "10.0.0.1");
}

TEST_F(Endpoints, ADeadOneIsTriedAgainAfterAWhileAndTakenBackIfItLives) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const auto requestsTo = [this](const std::string& address, const std::set<std::string>& dead) {
    int count = 0;
    for (int i = 0; i < 12; ++i) {
      const std::size_t before = rig_->dialled();
      const std::size_t request = rig_->want();
      answerDials(dead);
      EXPECT_TRUE(rig_->begun(request));
      for (std::size_t wire = before; wire < rig_->dialled(); ++wire) count += ip(wire) == address ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(requestsTo("10.0.0.1", {"10.0.0.1"}), 1);
  rig_->advance(std::chrono::milliseconds(499));
  EXPECT_EQ(requestsTo("10.0.0.1", {"10.0.0.1"}), 0);
  rig_->advance(std::chrono::milliseconds(1));
  EXPECT_EQ(requestsTo("10.0.0.1", {"10.0.0.1"}), 1);
  rig_->advance(std::chrono::milliseconds(999));
  EXPECT_EQ(requestsTo("10.0.0.1", {"10.0.0.1"}), 0) << "twice as long";
  rig_->advance(std::chrono::milliseconds(1));
  EXPECT_GT(requestsTo("10.0.0.1", {}), 6);
}

TEST_F(Endpoints, AttemptsThatFailTogetherCountOnce) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  for (int i = 0; i < 8; ++i) rig_->want();
  answerDials({"10.0.0.1"});
  rig_->advance(std::chrono::milliseconds(500));
  const std::size_t before = rig_->dialled();
  for (int i = 0; i < 8; ++i) rig_->want();
  EXPECT_EQ(ip(before), "10.0.0.1") << "not longer than after one failure";
}

TEST_F(Endpoints, OnlyOneRequestProbesADeadOne) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  for (int i = 0; i < 4; ++i) {
    rig_->want();
    answerDials({"10.0.0.1"});
  }
  rig_->advance(std::chrono::milliseconds(500));
  const std::size_t before = rig_->dialled();
  for (int i = 0; i < 8; ++i) rig_->want();
  std::size_t probes = 0;
  for (std::size_t i = before; i < rig_->dialled(); ++i) probes += ip(i) == "10.0.0.1" ? 1 : 0;
  EXPECT_EQ(probes, 1U) << "it does not answer, and the others do not wait for that";
}

TEST_F(Endpoints, OneThatDoesNotAnswerDelaysNoRequestForLong) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const std::size_t request = rig_->want();
  ASSERT_EQ(rig_->dialled(), 1U);
  rig_->advance(std::chrono::milliseconds(999));
  EXPECT_EQ(rig_->dialled(), 1U);
  rig_->advance(std::chrono::milliseconds(20));
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_NE(ip(1), ip(0));
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(request));
  for (int i = 0; i < 4; ++i) rig_->want();
  for (std::size_t i = 2; i < rig_->dialled(); ++i) EXPECT_EQ(ip(i), ip(1)) << "the other one still does not answer";
  rig_->accept(0);
  EXPECT_FALSE(rig_->wire(0).over()) << "late, and of use to others";
}

TEST_F(Endpoints, TheOnlyOneHasTheWholeTimeToAnswer) {
  PoolOptions options = service({"10.0.0.1"});
  options.timeouts.connect = std::chrono::seconds(3);
  begin(options);
  const std::size_t request = rig_->want();
  rig_->advance(std::chrono::milliseconds(2999));
  EXPECT_FALSE(rig_->failed(request));
  rig_->advance(std::chrono::milliseconds(20));
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kConnectionTimeout);
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_F(Endpoints, ARequestWithoutAnotherEndpointThatAnswersKeepsWaiting) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const std::size_t request = rig_->want();
  rig_->advance(std::chrono::milliseconds(1020));
  rig_->advance(std::chrono::milliseconds(1020));
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_FALSE(rig_->failed(request));
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(request));
  const std::size_t next = rig_->want();
  rig_->leave(next);
  for (std::size_t i = 2; i < rig_->dialled(); ++i) rig_->accept(i);
  EXPECT_FALSE(rig_->begun(next));
}

TEST_F(Endpoints, ARequestFailsWhenAllAreDead) {
  begin(service({"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  const std::set<std::string> dead = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  for (int i = 0; i < 2; ++i) {
    const std::size_t request = rig_->want();
    answerDials(dead);
    ASSERT_TRUE(rig_->failed(request));
    EXPECT_EQ(rig_->error(request).type, base::ErrorType::kConnectionRefused);
  }
  EXPECT_EQ(rig_->budget().connections.count(), 0U);
  rig_->advance(std::chrono::seconds(10));
  const std::size_t later = rig_->want();
  answerDials();
  EXPECT_TRUE(rig_->begun(later));
}

TEST_F(Endpoints, ARequestTriesFourOfThemAtMost) {
  std::vector<std::string> many;
  std::set<std::string> dead;
  for (int i = 1; i <= 9; ++i) many.push_back("10.0.0." + std::to_string(i));
  begin(service(many));
  dead.insert(many.begin(), many.end());
  const std::size_t request = rig_->want();
  answerDials(dead);
  EXPECT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->dialled(), 4U);
}

TEST_F(Endpoints, NoneAtAllIsAnswered503) {
  begin(service({}));
  const std::size_t request = rig_->want();
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kDestinationUnavailable);
  EXPECT_EQ(rig_->error(request).status, 503);
  become({"10.0.0.1"});
  const std::size_t next = rig_->want();
  answerDials();
  EXPECT_TRUE(rig_->begun(next));
}

TEST_F(Endpoints, KeepTheirConnectionsIfTheyStayAndFinishTheirRequestsIfTheyGo) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const Cluster* before = &rig_->cluster();
  for (int i = 0; i < 2; ++i) {
    rig_->want();
    answerDials();
  }
  ASSERT_NE(ip(0), ip(1));
  const std::size_t stays = ip(0) == "10.0.0.1" ? 0 : 1;
  const std::size_t goes = 1 - stays;
  become({"10.0.0.1", "10.0.0.3"});
  EXPECT_EQ(&rig_->cluster(), before);
  EXPECT_FALSE(rig_->wire(goes).finished) << "its request is in flight";
  rig_->backends[goes]->respond(0, 200, "whole");
  rig_->backends[stays]->respond(0, 200, "");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(rig_->answer(goes).body, "whole");
  EXPECT_TRUE(rig_->wire(goes).letGo);
  EXPECT_FALSE(rig_->wire(stays).letGo);
  for (int i = 0; i < 8; ++i) {
    rig_->want();
    answerDials();
  }
  for (std::size_t i = 2; i < rig_->dialled(); ++i) EXPECT_NE(ip(i), "10.0.0.2");
}

TEST_F(Endpoints, IdleConnectionsToThoseThatGoAreClosed) {
  begin(service({"10.0.0.1"}));
  rig_->want();
  rig_->accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig_->settle());
  become({"10.0.0.2"});
  { const net::Worker::Turn turn(rig_->worker); }
  EXPECT_TRUE(rig_->wire(0).letGo);
  EXPECT_EQ(rig_->budget().connections.count(), 0U);
}

TEST_F(Endpoints, ARequestThatWaitsForAGoneEndpointGetsAnother) {
  begin(service({"10.0.0.1"}));
  const std::size_t request = rig_->want();
  become({"10.0.0.2"});
  { const net::Worker::Turn turn(rig_->worker); }
  ASSERT_EQ(rig_->dialled(), 2U);
  EXPECT_EQ(ip(1), "10.0.0.2");
  rig_->accept(1);
  EXPECT_TRUE(rig_->begun(request));
  rig_->accept(0);
  EXPECT_TRUE(rig_->wire(0).letGo) << "nobody wants it any more";
}

TEST_F(Endpoints, ARequestThatWaitsForTheLastEndpointFailsWhenItGoes) {
  begin(service({"10.0.0.1"}));
  const std::size_t request = rig_->want();
  become({});
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kDestinationUnavailable);
}

TEST_F(Endpoints, AWaiterThatLeavesIsForgottenWhereverItWaits) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  const std::size_t request = rig_->want();
  rig_->wire(0).refuse();
  ASSERT_EQ(rig_->dialled(), 2U) << "it waits for the other one now";
  rig_->leave(request);
  rig_->accept(1);
  EXPECT_FALSE(rig_->begun(request));
}

TEST_F(Endpoints, ExistingConnectionsServeIfThereIsNoRoomForMore) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  options.maxConnections = 1;
  begin(options);
  const std::size_t first = rig_->want();
  answerDials();
  ASSERT_TRUE(rig_->begun(first));
  for (int i = 0; i < 6; ++i) {
    const std::size_t request = rig_->want();
    EXPECT_FALSE(rig_->failed(request));
    rig_->backends[0]->respond(static_cast<std::size_t>(i), 200, "");
    ASSERT_TRUE(rig_->settle());
    EXPECT_TRUE(rig_->begun(request));
  }
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_F(Endpoints, HaveOneBoundForAllWaitingRequests) {
  PoolOptions options = service({"10.0.0.1", "10.0.0.2"});
  options.pendingBound = 3;
  begin(options);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rig_->failed(rig_->want()));
  const std::size_t refused = rig_->want();
  ASSERT_TRUE(rig_->failed(refused));
  EXPECT_EQ(rig_->error(refused).type, base::ErrorType::kConnectionLimitReached);
}

TEST_F(Endpoints, AnAddressThatIsNotAllowedIsNotDialledWhateverTheConfigurationSays) {
  begin(service({"127.0.0.1", "169.254.169.254"}));
  const std::size_t request = rig_->want();
  EXPECT_EQ(rig_->dialled(), 0U);
  ASSERT_TRUE(rig_->failed(request));
  EXPECT_EQ(rig_->error(request).type, base::ErrorType::kDestinationIpProhibited);
}

TEST_F(Endpoints, AClusterThatAnOlderSnapshotsExchangeBringsAboutHasTheNewestEndpoints) {
  begin(service({"10.0.0.1"}));
  const auto older = rig_->plan;
  become({"10.0.0.2"});
  rig_->plan = older;
  rig_->want();
  ASSERT_EQ(rig_->dialled(), 1U);
  EXPECT_EQ(ip(0), "10.0.0.2");
}

TEST_F(Endpoints, AreClosedWithTheirService) {
  begin(service({"10.0.0.1", "10.0.0.2"}));
  for (int i = 0; i < 2; ++i) {
    rig_->want();
    answerDials();
  }
  for (const auto& backend : rig_->backends) backend->respond(0, 200, "");
  ASSERT_TRUE(rig_->settle());
  become({"10.0.0.1"});
  const std::weak_ptr<const routing::BackendPlan> plan = rig_->plan;
  rig_->plan = PoolRig::planOf("other", {});
  rig_->adopt(PoolRig::policyOf({}), {rig_->plan});
  for (std::size_t i = 0; i < 2; ++i) rig_->done(i);
  EXPECT_TRUE(rig_->wire(0).letGo && rig_->wire(1).letGo);
  EXPECT_TRUE(plan.expired());
}

}  // namespace
}  // namespace sluice::upstream
