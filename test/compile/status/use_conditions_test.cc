// Tests that each use of a payload processor that cannot run has its own condition, independent of the others.
#include "proxy/compile/status/use_conditions.h"

#include <gtest/gtest.h>

#include <regex>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::vector<config::Condition> conditionsFor(std::size_t uses, std::size_t others, std::size_t most) {
  Conditions conditions{std::optional<std::int64_t>()};
  for (std::size_t i = 0; i < others; ++i) conditions.good("Other" + std::to_string(i), "Fine");
  std::vector<RefusedUse> refused;
  for (std::size_t i = 0; i < uses; ++i) refused.push_back({"Backend b", "u" + std::to_string(i), {"Why", "x"}, false});
  addUseConditions(refused, conditions, most);
  return conditions.take();
}
constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

TEST(UseConditions, AreAtMostSixteenAndOneThatCountsTheRest) {
  EXPECT_EQ(conditionsFor(0, 3, kUnbounded).size(), 3U);
  EXPECT_EQ(conditionsFor(16, 3, kUnbounded).size(), 19U);
  EXPECT_EQ(conditionsFor(16, 3, kUnbounded).back().type, "extension.sluice.dev/u15");
  const auto conditions = conditionsFor(19, 3, kUnbounded);
  EXPECT_EQ(conditions.size(), 20U);
  EXPECT_EQ(conditions.back().type, kMoreUsesCondition);
  EXPECT_EQ(conditions.back().status, config::ConditionStatus::kFalse);
  EXPECT_EQ(conditions.back().message, "3 more extensions cannot run");
}

TEST(UseConditions, NeverExceedTheBoundOfTheCrd) {
  EXPECT_EQ(conditionsFor(5, 3, kMostConditions).back().type, "extension.sluice.dev/u4");
  const auto conditions = conditionsFor(6, 3, kMostConditions);
  EXPECT_EQ(conditions.size(), kMostConditions);
  EXPECT_EQ(conditions.back().message, "2 more extensions cannot run");
  EXPECT_EQ(conditionsFor(2, 7, kMostConditions).back().message, "2 more extensions cannot run");
  EXPECT_EQ(conditionsFor(2, 8, kMostConditions).size(), 8U);
}

TEST(UseConditions, HaveTypesThatAnApiServerAccepts) {
  const std::regex allowed(R"(([a-z0-9.]+/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]))");
  for (const char* name : {"a b/c", "-x-", "%%%", "Übung", "plain.name_1"}) {
    Conditions conditions{std::optional<std::int64_t>()};
    addUseConditions({{"Backend b", name, {"Why", "x"}, false}}, conditions);
    const auto made = conditions.take();
    EXPECT_TRUE(std::regex_match(made.at(0).type, allowed)) << made.at(0).type;
  }
}

TEST(UseConditions, AreNotWrittenForFaultsOfTheWholeObject) {
  Conditions conditions{std::optional<std::int64_t>()};
  addUseConditions({{"HTTPRoute r", "", {"InvalidExtensionRef", "x"}, false}}, conditions);
  EXPECT_EQ(conditions.size(), 0U);
}

std::string test(const std::string& name, const std::string& fields) {
  return "{name: " + name + ", type: 'sluice.dev/Test:v1', " + fields + "}, ";
}
const std::string kUses = test("good", "phase: request-headers") + test("phase", "phase: response-body") +
                          test("early", "phase: backend-request, preAuth: true") +
                          test("token", "phase: request-headers, config: {secret: absent}") +
                          test("plain", "phase: request-headers, config: {secret: token}") +
                          "{name: later, type: 'x.test/B:v1', phase: connect, failOpen: true}";

void expectEachItsOwn(const World& world, std::string_view kind, std::string_view name) {
  const auto of = [&](const std::string& use) { return world.condition(kind, name, "extension.sluice.dev/" + use); };
  EXPECT_EQ(of("good"), "");
  EXPECT_EQ(of("phase"), "False/UnsupportedPhase");
  EXPECT_EQ(of("early"), "False/InvalidPreAuthPhase");
  EXPECT_EQ(of("token"), "False/InvalidSecretRef");
  EXPECT_EQ(of("plain"), "False/InsecureCredential");
  EXPECT_EQ(of("later"), "False/UnsupportedExtensionType");
}

TEST(UseConditions, AreWrittenBesideABackendsDegraded) {
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + kUses + "], ");
  const World world({kClass, kGateway, kRoute, backend, test::secret("token", {{"key", "value"}})}, nullptr,
                    test::processorTypes());
  expectEachItsOwn(world, "Backend", "origin");
  EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), "True/UnsupportedPhase");
  const std::string field = "spec.extensions[1].phase";
  EXPECT_NE(world.message("Backend", "origin", "extension.sluice.dev/phase").find(field), std::string::npos);
  EXPECT_EQ(world.message("Backend", "origin", "extension.sluice.dev/token").find(field), std::string::npos);
}

TEST(UseConditions, AreWrittenToTheRouteForARulesFilters) {
  const std::string route =
      with(kRoute, "rules: [{", "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [" + kUses + "]}], ");
  const World world({kClass, kGateway, kBackend, route, test::secret("token", {{"key", "value"}})}, nullptr,
                    test::processorTypes());
  expectEachItsOwn(world, "HTTPRoute", "route");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(UseConditions, AreWrittenToThePayloadProcessorAndNotToItsTarget) {
  const std::string processor =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}\n  processors: [" +
      kUses + "]\n";
  const World world({kClass, kGateway, kBackend, kRoute, processor, test::secret("token", {{"key", "value"}})}, nullptr,
                    test::processorTypes());
  expectEachItsOwn(world, "PayloadProcessor", "p");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "extension.sluice.dev/phase"), "");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted").substr(0, 6), "False/");
}

AskedServer serverOfUse(const std::string& use, processing::ServerReach reach, bool open = false) {
  AskedServer server{"Backend b",
                     use,
                     "spec.extensions[0]",
                     open ? ServerLoss::kSkipped : ServerLoss::kRefused,
                     std::make_shared<const processing::ServerHealth>(),
                     {}};
  server.state = {reach, base::WallTime(std::chrono::seconds(86400)), 4, processing::Cause::kTimeout};
  return server;
}

std::string conditionsOfServers(const std::vector<AskedServer>& servers, std::size_t most = kUnbounded) {
  Conditions conditions{std::optional<std::int64_t>()};
  addUseConditions(awayUses(servers), conditions, most);
  addServerConditions(servers, conditions, most);
  std::string text;
  for (const config::Condition& each : conditions.take()) {
    text += each.type.substr(each.type.find('/') + 1) + "=" + std::string(config::conditionStatusName(each.status)) +
            "/" + each.reason + ";";
  }
  return text;
}

TEST(UseConditions, SayOfEachUseThatAsksAServerHowThatIs) {
  using enum processing::ServerReach;
  EXPECT_EQ(conditionsOfServers({serverOfUse("a", kPending), serverOfUse("b", kActive), serverOfUse("c", kDegraded)}),
            "c=False/ExtensionUnavailable;a=True/ExtensionPending;b=True/ExtensionActive;");
  EXPECT_EQ(conditionsOfServers({}), "");
}

TEST(UseConditions, TellTheWorstServerOfUsesWithOneName) {
  using enum processing::ServerReach;
  EXPECT_EQ(conditionsOfServers({serverOfUse("a", kActive), serverOfUse("a", kPending)}), "a=True/ExtensionPending;");
  EXPECT_EQ(conditionsOfServers({serverOfUse("a", kActive), serverOfUse("a", kDegraded), serverOfUse("a", kPending)}),
            "a=False/ExtensionUnavailable;");
}

TEST(UseConditions, LeaveOutGoodServersThatTheCrdHasNoRoomFor) {
  using enum processing::ServerReach;
  EXPECT_EQ(conditionsOfServers({serverOfUse("a", kActive), serverOfUse("b", kActive), serverOfUse("c", kDegraded)}, 2),
            "c=False/ExtensionUnavailable;a=True/ExtensionActive;");
}

TEST(UseConditions, SaySinceWhenAServerIsAwayAndWhatBecomesOfRequests) {
  using enum processing::ServerReach;
  EXPECT_EQ(awayFault({serverOfUse("a", kActive)}), std::nullopt);
  const std::optional<Fault> closed = awayFault({serverOfUse("a", kDegraded)});
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->reason, "ExtensionUnavailable");
  EXPECT_EQ(
      closed->text(),
      "spec.extensions[0]: its server does not answer in time since 1970-01-02T00:00:00.000Z (4 failures in a row when "
      "this was noticed); until it answers, its requests are refused");
  EXPECT_TRUE(awayFault({serverOfUse("a", kDegraded, true)})->message.ends_with("its requests go on without it"));
}

TEST(UseConditions, AreOnTheObjectThatHasTheUseWhereverThatIs) {
  const std::string use = "{name: asks, type: 'sluice.dev/Asks:v1', phase: request-headers, config: {server: s}}";
  const std::string guard =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec: {targetRef: {group: "
      "gateway.networking.k8s.io, kind: Gateway, name: egress}, processors: [" +
      use + "]}\n";
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + use + "], ");
  const std::string route = test::routeWithRules(
      "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, "
      "name: "
      "pipe}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  const std::string pipeline =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {name: pipe}\nspec: {processors: [" +
      use + "]}\n";
  World world({kClass, kGateway, backend, route, guard, pipeline}, nullptr, test::processorTypes());
  EXPECT_EQ(world.result().servers.size(), 3U);
  const std::vector<std::pair<std::string_view, std::string_view>> objects = {
      {"PayloadProcessor", "p"}, {"Backend", "origin"}, {"PayloadProcessingPipeline", "pipe"}};
  for (const auto& [kind, name] : objects) {
    EXPECT_EQ(world.condition(kind, name, "extension.sluice.dev/asks"), "True/ExtensionPending") << kind;
    EXPECT_EQ(world.condition(kind, name, "Degraded"), "") << kind;
    EXPECT_TRUE(config::isHealthy(*world.status(kind, name))) << kind;
  }
  world.recompileAfter([](const processing::ServerHealth& server) { server.onAnswer(); });
  EXPECT_EQ(world.condition("PayloadProcessor", "p", "extension.sluice.dev/asks"), "True/ExtensionActive");
  world.recompileAfter([](const processing::ServerHealth& server) { server.onFailure(processing::Cause::kError, {}); });
  for (const auto& [kind, name] : objects) {
    EXPECT_EQ(world.condition(kind, name, "extension.sluice.dev/asks"), "False/ExtensionUnavailable") << kind;
    EXPECT_EQ(world.condition(kind, name, "Degraded"), "True/ExtensionUnavailable") << kind;
  }
  EXPECT_EQ(world.outcome(), "default/origin") << "each request asks anew";
}

}  // namespace
}  // namespace sluice::compile
