// Tests configurations that cannot be served, while the binary runs, when it starts, and after it was killed: the last
// good one is served, and the errors are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServedRevisions : public testing::Test {
 protected:
  GatewaySpec withState(GatewaySpec spec, const std::string& folder = "state") const {
    spec.options = {"--state-dir", folder_.path() + "/" + folder};
    return spec;
  }
  static GatewaySpec broken() {
    GatewaySpec spec;
    spec.text = "{[";
    spec.waitFor = Started::kLive;
    return spec;
  }
  static std::string answerOf(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    return askRaw(client).body;
  }
  static int statusOf(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    return client.ok() ? askRaw(client).status : 0;
  }
  static std::string memberOf(const GatewayProcess& gateway, const std::string& name) {
    const std::string status = gateway.adminGet("/status");
    const std::string key = "\"" + name + "\":\"";
    const std::size_t begin = status.find(key) + key.size();
    return status.substr(begin, status.find('"', begin) - begin);
  }
  /// Returns true once the served configuration is on disk, as the ledger shows.
  static bool isKept(const GatewayProcess& gateway) {
    return eventually([&] { return gateway.adminGet("/revisions").find("\"served\":") != std::string::npos; });
  }
  static bool isIn(const GatewayProcess& gateway, const std::string& state) {
    return eventually([&] { return memberOf(gateway, "state") == state; });
  }

  TempDir folder_;
  RawOrigin one_{RawOrigin::answering(saying("one"))};
  RawOrigin two_{RawOrigin::answering(saying("two"))};
};

TEST_F(ServedRevisions, ANeverGoodConfigurationIsWaitedFor) {
  GatewayProcess gateway(broken());
  EXPECT_TRUE(isIn(gateway, "RollbackFailed"));
  EXPECT_FALSE(gateway.isReady());
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"served\":\"\",\"state\":\"RollbackFailed\""));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("gateway.yaml\",\"line\":1,"));
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"RollbackFailed\"}"), 1);
  gateway.rewrite(towards(one_));
  EXPECT_TRUE(isIn(gateway, "InSync")) << "by itself";
  EXPECT_TRUE(gateway.isReady());
  EXPECT_EQ(answerOf(gateway), "one");
  gateway.reload(broken(), "failure");
  EXPECT_EQ(memberOf(gateway, "state"), "Rollback");
  EXPECT_TRUE(gateway.isReady());
  EXPECT_EQ(answerOf(gateway), "one");
}

TEST_F(ServedRevisions, AMissingFolderIsWaitedFor) {
  GatewaySpec spec = broken();
  const std::string path = folder_.path() + "/later";
  spec.options = {"--config", path};
  GatewayProcess gateway(spec);
  EXPECT_TRUE(isIn(gateway, "RollbackFailed"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(path));
}

TEST_F(ServedRevisions, ListenersThatAreKnownAnswer500UntilTheirSettingsAreGood) {
  GatewaySpec wrong = towards(one_, "wrokers: 1\n");
  wrong.waitFor = Started::kListening;
  GatewayProcess gateway(wrong);
  EXPECT_EQ(statusOf(gateway), 500);
  EXPECT_FALSE(gateway.isReady());
  EXPECT_EQ(memberOf(gateway, "state"), "RollbackFailed");
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("wrokers"));
  gateway.rewrite(towards(one_));
  EXPECT_TRUE(isIn(gateway, "InSync"));
  EXPECT_TRUE(gateway.isReady());
  EXPECT_EQ(answerOf(gateway), "one") << "with the settings for names that were not there before";
  gateway.reload(wrong, "failure");
  EXPECT_EQ(memberOf(gateway, "state"), "Rollback") << "settings that are refused refuse the revision";
  EXPECT_EQ(answerOf(gateway), "one");
}

TEST_F(ServedRevisions, TheLastGoodOneIsServedByTheNextProcessAtOnce) {
  GatewayProcess gateway(withState(towards(one_)));
  gateway.reload(towards(two_));
  const std::string revision = memberOf(gateway, "served");
  EXPECT_TRUE(eventually([&] { return gateway.process().said("cannot be stored") == 0; }));
  gateway.reload(broken(), "failure");
  gateway.kill();
  gateway.startAgain();
  EXPECT_EQ(answerOf(gateway), "two");
  EXPECT_TRUE(gateway.isReady());
  EXPECT_TRUE(isIn(gateway, "Rollback"));
  EXPECT_EQ(memberOf(gateway, "served"), revision) << "digests can be compared";
  gateway.rewrite(towards(one_));
  EXPECT_TRUE(isIn(gateway, "InSync"));
  EXPECT_EQ(answerOf(gateway), "one");
}

TEST_F(ServedRevisions, ARefusedOneIsTaintedUntilItIsCleared) {
  GatewayProcess gateway(towards(one_));
  gateway.reload(broken(), "failure");
  const std::string bad = memberOf(gateway, "desired");
  const std::string admin = "127.0.0.1:" + std::to_string(gateway.adminPort());
  const auto sluice = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), programPath("sluice"));
    arguments.insert(arguments.end(), {"--admin", admin});
    return run(arguments);
  };
  const ProgramOutcome status = sluice({"status"});
  EXPECT_EQ(status.exitCode, 1);
  EXPECT_THAT(status.output, HasSubstr("Rollback since "));
  EXPECT_THAT(status.output, HasSubstr("gateway.yaml:1:"));
  EXPECT_THAT(sluice({"status", "-o", "yaml"}).output, HasSubstr("\nstate: \"Rollback\"\n"));
  EXPECT_THAT(sluice({"revisions", "-o", "json"}).output, HasSubstr("[{\"revision\":\"" + bad + "\",\"time\":"));
  EXPECT_EQ(sluice({"revisions", "clear", "000000000000"}).exitCode, 1);
  const double failures = gateway.metric("sluice_config_reloads_total{result=\"failure\"}");
  const ProgramOutcome cleared = sluice({"revisions", "clear", bad});
  EXPECT_EQ(cleared.exitCode, 0) << cleared.errors;
  EXPECT_TRUE(gateway.reaches("sluice_config_reloads_total{result=\"failure\"}", failures + 1)) << "it was tried again";
  gateway.reload(towards(one_), "unchanged");
  EXPECT_EQ(sluice({"status"}).exitCode, 0);
  const ProgramOutcome nobody = run({programPath("sluice"), "status", "--admin", "127.0.0.1:1"});
  EXPECT_EQ(nobody.exitCode, 1);
  EXPECT_THAT(nobody.errors, HasSubstr("no gateway answers at 127.0.0.1:1: Connection refused; --admin names"));
}

TEST_F(ServedRevisions, WhatHappensIsAnEventWithItsObjectAndItsCount) {
  GatewaySpec spec = towards(one_);
  spec.allow = "";
  GatewayProcess gateway(spec);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf(gateway), 403);
  EXPECT_TRUE(eventually([&] {
    return gateway.adminGet("/events").find(
               "\"count\":3,\"type\":\"Warning\",\"reason\":\"RequestDenied\",\"object\":"
               "\"Backend test/origin\"") != std::string::npos;
  })) << gateway.adminGet("/events");
  gateway.reload(broken(), "failure");
  EXPECT_THAT(gateway.adminGet("/events"), HasSubstr("\"reason\":\"RolledBack\""));
  spec.routes = routeOfRules("    - matches: [{path: {value: /}}]\n      surprise: 1\n");
  gateway.reload(spec);
  EXPECT_THAT(gateway.adminGet("/events"), HasSubstr("\"reason\":\"Reloaded\""));
  EXPECT_TRUE(eventually([&] {
    return gateway.adminGet("/events").find("\"reason\":\"NotFullyServed\",\"object\":\"HTTPRoute test/all\"") !=
           std::string::npos;
  }));
  EXPECT_EQ(gateway.metric("sluice_events_dropped_total"), 0);
}

// The process is killed while it reloads, and the next one finds a configuration that it cannot read. It serves one of
// those that were good.
TEST_F(ServedRevisions, AreServedOfflineByTheNextProcessWheneverTheEarlierOneWasKilled) {
  GatewaySpec first = withState(towards(one_));
  first.release = true;
  GatewayProcess gateway(first);
  ASSERT_TRUE(isKept(gateway)) << "before that, there is no good configuration on disk";
  std::mt19937 random(20'261'123);
  std::uniform_int_distribution<int> microseconds(0, 12'000);
  for (int round = 0; round < 200; ++round) {
    gateway.rewrite(round % 2 == 0 ? towards(two_) : towards(one_));
    gateway.process().signal(SIGHUP);
    // The moment is random, and no outcome depends on it.
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds(random));
    while (std::chrono::steady_clock::now() < moment) continue;
    gateway.kill();
    gateway.replaceFile("{[");
    gateway.startAgain();
    const std::string served = answerOf(gateway);
    ASSERT_TRUE(served == "one" || served == "two") << "round " << round << ": " << gateway.process().errors();
    ASSERT_EQ(gateway.process().said("is damaged"), 0U);
  }
}

TEST_F(ServedRevisions, ReplicasWithDifferentHistoriesReportThat) {
  GatewayProcess veteran(withState(towards(one_)));
  GatewaySpec wrong = towards(one_);
  wrong.routes = routeOfRules("    - matches: [{path: {value: /}}]\n      surprise: 1\n");
  veteran.reload(wrong);
  EXPECT_EQ(answerOf(veteran), "one") << "the route's earlier version";
  const std::string desired = memberOf(veteran, "desired");
  const std::string served = memberOf(veteran, "served");
  EXPECT_NE(served, desired);
  veteran.kill();
  {
    // At the same port, so that the same is written.
    wrong.gatewayPort = veteran.port();
    wrong.waitFor = Started::kLive;
    const GatewayProcess newcomer(wrong);
    EXPECT_TRUE(isIn(newcomer, "InSync"));
    EXPECT_EQ(statusOf(veteran), 500);
    EXPECT_EQ(memberOf(newcomer, "desired"), desired);
    EXPECT_EQ(memberOf(newcomer, "served"), desired) << "it serves nothing else than what is written";
  }
  veteran.startAgain();
  EXPECT_EQ(answerOf(veteran), "one") << "the earlier version is kept too";
  EXPECT_EQ(memberOf(veteran, "served"), served);
}

}  // namespace
}  // namespace sluice::test
