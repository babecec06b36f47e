// Tests which health of Backends a compilation records, and when that has changed.
#include "proxy/compile/status/backend_health.h"

#include <gtest/gtest.h>

#include <chrono>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

constexpr base::WallTime kOutage{std::chrono::hours(1)};
constexpr base::MonotonicTime kNow{std::chrono::hours(2)};

void failOften(const routing::BackendReach& reach, const char* why = "connection refused") {
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
    reach.onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, why), kOutage);
  }
}

// The plan for a GRPCRoute is a copy for HTTP/2 if the plan would let ALPN choose over TLS.
TEST(BackendHealthNotes, HaveABackendOfGrpcRoutesAlone) {
  const std::string secure = with(kBackend, "{destination:", "{tls: {mode: Terminate}, destination:");
  const World world({kClass, kGateway, secure, with(kRoute, "kind: HTTPRoute", "kind: GRPCRoute")});
  ASSERT_EQ(world.result().health.size(), 1u);
  EXPECT_TRUE(world.result().health[0].serves);
  failOften(*world.result().health[0].reach);
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
}

TEST(BackendHealthNotes, HaveABackendOncePerPortWhateverTheVersionOfHttp) {
  const std::string secure = with(kBackend, "{destination:", "{tls: {mode: Terminate}, destination:");
  const World world({kClass, kGateway, secure, kRoute});
  EXPECT_GT(world.snapshot().backends.size(), 1u) << "one of them is for HTTP/1.1 alone";
  EXPECT_EQ(world.result().health.size(), 1u);
}

// Each change causes a new compilation. The first connection of a Backend must not do so.
TEST(BackendHealthNotes, DoNotChangeWithTheFirstConnection) {
  World world({kClass, kGateway, kBackend, kRoute});
  const routing::BackendReach& reach = *world.result().health.at(0).reach;
  reach.onAnswer();
  EXPECT_FALSE(hasMoved(world.result().health, kOutage, kNow));
  failOften(reach);
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
  world.recompile();
  EXPECT_FALSE(world.result().health.at(0).serves);
  EXPECT_FALSE(hasMoved(world.result().health, kOutage, kNow));
  reach.onAnswer();
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
}

TEST(BackendHealthNotes, ChangeWithTheReasonOfAnOutage) {
  World world({kClass, kGateway, kBackend, kRoute});
  const routing::BackendReach& reach = *world.result().health.at(0).reach;
  failOften(reach);
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
  world.recompile();
  const std::string since = "origin.test:8080 takes no connections since 1970-01-01T01:00:00.000Z: ";
  EXPECT_EQ(world.message("Backend", "origin", "Available"), since + "connection refused");
  failOften(reach, "no route to host");
  EXPECT_FALSE(hasMoved(world.result().health, kOutage + std::chrono::seconds(9), kNow));
  EXPECT_TRUE(hasMoved(world.result().health, kOutage + std::chrono::seconds(10), kNow));
  world.recompile();
  EXPECT_EQ(world.message("Backend", "origin", "Available"), since + "no route to host");
}

// The rule's requests have ejected it, and other rules may use it: it stays available.
TEST(BackendHealthNotes, HaveEjectionsWhileTheyLast) {
  const std::string other = "{group: gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}";
  World world({kClass, kGateway, kBackend, with(kBackend, "name: origin", "name: other"),
               test::routeWithRules("rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
                                    "origin, port: 8080}, " +
                                    other + "]}]"),
               "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
               "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], healthCheck: {passive: "
               "{consecutive5XxErrors: 1}}}\n"});
  ASSERT_EQ(world.snapshot().ejections.size(), 2u);
  const routing::AnswerHealth& whole = *world.snapshot().ejections[0].whole;
  EXPECT_FALSE(hasMoved(world.result().health, kOutage, kNow));
  ASSERT_TRUE(whole.eject(kNow, {}));
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
  world.recompile();
  EXPECT_FALSE(hasMoved(world.result().health, kOutage, kNow));
  EXPECT_EQ(world.message("Backend", "origin", "Degraded"),
            "HTTPRoute default/route, rule 0 has ejected origin.test:8080");
  EXPECT_EQ(world.condition("Backend", "origin", "Available"), "True/Available");
  whole.onAnswer(kNow + std::chrono::hours(1), {});
  EXPECT_TRUE(hasMoved(world.result().health, kOutage, kNow));
  world.recompile();
  EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), "");
}

}  // namespace
}  // namespace sluice::compile
