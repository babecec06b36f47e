// Tests silent connections of HTTP/2: pings find the dead ones, and requests avoid those that may be dead.
#include <gtest/gtest.h>

#include <chrono>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kPingHit = "sluice_limit_hits_total{limit=\"upstreamPing\"} 1";

class DeadConnections : public testing::Test {
 protected:
  /// Begins a request on a connection of its own.
  test::BackendPeer& begin(base::Duration ping = seconds(10)) {
    PoolOptions options{.protocol = routing::UpstreamProtocol::kHttp2};
    options.timeouts.upstreamPing = ping;
    options.timeouts.upstreamIdle = minutes(30);
    rig_.emplace(options);
    rig_->want();
    test::BackendPeer& backend = rig_->accept(0, Version::kHttp2);
    EXPECT_TRUE(rig_->begun(0));
    return backend;
  }
  /// Lets time pass in small steps, as timers see it.
  void pass(base::Duration time) {
    for (base::Duration passed{}; passed < time; passed += milliseconds(500)) rig_->advance(milliseconds(500));
  }

  std::optional<PoolRig> rig_;
};

TEST_F(DeadConnections, AreGivenUpWhenAPingHasNoAnswer) {
  begin().reads = false;
  pass(seconds(14));
  EXPECT_FALSE(rig_->answer(0).reset);
  pass(seconds(2));
  EXPECT_TRUE(rig_->answer(0).reset);
  EXPECT_EQ(rig_->answer(0).error.type, base::ErrorType::kConnectionTerminated);
  EXPECT_FALSE(rig_->answer(0).unprocessed);
  EXPECT_TRUE(rig_->counted(kPingHit));
  rig_->done(0);
  rig_->want();
  EXPECT_EQ(rig_->dialled(), 2U);
}

TEST_F(DeadConnections, ABackendThatAnswersPingsMayTakeItsTime) {
  test::BackendPeer& backend = begin();
  pass(minutes(12));
  EXPECT_FALSE(rig_->answer(0).reset);
  backend.respond(0, 200, "late");
  rig_->settle();
  EXPECT_EQ(rig_->answer(0).body, "late");
  EXPECT_FALSE(rig_->counted(kPingHit));
}

TEST_F(DeadConnections, NoPingIsSentWithoutARequestThatWaits) {
  test::BackendPeer& backend = begin();
  backend.respond(0, 200, "done");
  rig_->settle();
  rig_->done(0);
  backend.reads = false;
  pass(minutes(2));
  EXPECT_FALSE(rig_->wire(0).letGo);
  EXPECT_TRUE(rig_->wire(0).received.empty()) << "no bytes were sent";
}

TEST_F(DeadConnections, ZeroTurnsPingsOff) {
  begin(base::Duration::zero()).reads = false;
  pass(minutes(2));
  EXPECT_FALSE(rig_->answer(0).reset);
}

TEST_F(DeadConnections, RequestsKeepAwayFromOneThatLetARequestWaitInVain) {
  test::BackendPeer& backend = begin();
  backend.reads = false;
  rig_->expire(0);
  rig_->done(0);
  rig_->want();
  ASSERT_EQ(rig_->dialled(), 2U);
  rig_->accept(1, Version::kHttp2);
  EXPECT_TRUE(rig_->begun(1));
  EXPECT_NE(rig_->connectionOf(1), rig_->connectionOf(0));
  pass(seconds(6));
  EXPECT_TRUE(rig_->wire(0).letGo) << "it was pinged at once";
}

TEST_F(DeadConnections, AByteEndsTheSuspicion) {
  test::BackendPeer& backend = begin();
  rig_->want();
  rig_->settle();
  EXPECT_EQ(rig_->connectionOf(1), rig_->connectionOf(0));
  rig_->expire(0);
  rig_->done(0);
  backend.respond(1, 200, "alive");
  rig_->settle();
  rig_->done(1);
  rig_->want();
  rig_->settle();
  EXPECT_EQ(rig_->connectionOf(2), rig_->connectionOf(0));
  EXPECT_EQ(rig_->dialled(), 1U);
}

// Requests that all time out at a slow Backend must not fill its places with connections that are suspected.
TEST_F(DeadConnections, ASuspectThatCannotShowLifeSoonEndsWithItsLastRequest) {
  begin();
  rig_->expire(0);
  rig_->done(0);
  pass(seconds(1));
  rig_->want();
  EXPECT_EQ(rig_->dialled(), 1U) << "it has answered a ping";
  rig_->expire(1);
  rig_->done(1);
  rig_->settle();
  EXPECT_TRUE(rig_->wire(0).letGo) << "the next ping would be due in a minute";
}

TEST_F(DeadConnections, ASuspectStillHasItsPlace) {
  PoolOptions options{.maxConnections = 1, .protocol = routing::UpstreamProtocol::kHttp2};
  rig_.emplace(options);
  rig_->want();
  rig_->accept(0, Version::kHttp2).reads = false;
  rig_->expire(0);
  rig_->done(0);
  rig_->want();
  EXPECT_EQ(rig_->dialled(), 1U);
  pass(seconds(6));
  EXPECT_EQ(rig_->dialled(), 2U) << "the place of the dead one is free";
}

}  // namespace
}  // namespace sluice::upstream
