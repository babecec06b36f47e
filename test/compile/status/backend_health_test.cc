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

void failOften(const processing::ServerHealth& reach) {
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
    reach.onFailure(processing::Cause::kError, kOutage);
  }
}

// The plan for a GRPCRoute is a copy for HTTP/2 if the plan would let ALPN choose over TLS.
TEST(BackendHealthNotes, HaveABackendOfGrpcRoutesAlone) {
  const std::string secure = with(kBackend, "{destination:", "{tls: {mode: Terminate}, destination:");
  const World world({kClass, kGateway, secure, with(kRoute, "kind: HTTPRoute", "kind: GRPCRoute")});
  ASSERT_EQ(world.result().health.size(), 1u);
  EXPECT_TRUE(world.result().health[0].serves);
  failOften(*world.result().health[0].reach);
  EXPECT_TRUE(hasMoved(world.result().health, kOutage));
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
  const processing::ServerHealth& reach = *world.result().health.at(0).reach;
  reach.onAnswer();
  EXPECT_FALSE(hasMoved(world.result().health, kOutage));
  failOften(reach);
  EXPECT_TRUE(hasMoved(world.result().health, kOutage));
  world.recompile();
  EXPECT_FALSE(world.result().health.at(0).serves);
  EXPECT_FALSE(hasMoved(world.result().health, kOutage));
  reach.onAnswer();
  EXPECT_TRUE(hasMoved(world.result().health, kOutage));
}

}  // namespace
}  // namespace sluice::compile
