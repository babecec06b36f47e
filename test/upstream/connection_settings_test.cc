// Connections obey the settings of their Backend's plan, and those of the process where it has none.
#include "proxy/routing/policy/connection_settings.h"

#include <gtest/gtest.h>

#include <chrono>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ConnectionSettings, BoundTheTimeInWhichAConnectionIsMade) {
  PoolRig rig({.connection = {.connectTimeout = seconds(2)}});
  const std::size_t request = rig.want();
  rig.advance(milliseconds(1'990));
  EXPECT_FALSE(rig.failed(request));
  rig.advance(milliseconds(20));
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionTimeout);
}

TEST(ConnectionSettings, MayGiveMoreTimeThanTheProcess) {
  PoolRig rig({.connection = {.connectTimeout = seconds(20)}});
  const std::size_t request = rig.want();
  rig.advance(seconds(19));
  rig.accept(0);
  EXPECT_TRUE(rig.begun(request));
}

TEST(ConnectionSettings, BoundTheTimeWithoutRequests) {
  PoolRig rig({.connection = {.idleTimeout = seconds(5)}});
  rig.want();
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.advance(milliseconds(4'990));
  EXPECT_FALSE(rig.wire(0).letGo);
  rig.advance(milliseconds(20));
  EXPECT_TRUE(rig.wire(0).letGo);
}

TEST(ConnectionSettings, EndConnectionsOfAnAgeThatNoRequestUses) {
  PoolRig rig({.connection = {.lifetime = seconds(10)}});
  rig.want();
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.advance(milliseconds(9'990));
  EXPECT_FALSE(rig.wire(0).letGo);
  rig.advance(milliseconds(20));
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_TRUE(rig.wire(0).finished) << "an orderly end";
}

TEST(ConnectionSettings, LetRequestsOfAnOldConnectionEnd) {
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    PoolOptions options{.connection = {.lifetime = seconds(10)}};
    if (version == Version::kHttp2) options.protocol = routing::UpstreamProtocol::kHttp2;
    PoolRig rig(options);
    rig.want();
    test::BackendPeer& backend = rig.accept(0, version);
    rig.advance(seconds(11));
    EXPECT_FALSE(rig.wire(0).letGo) << "a request uses it";
    rig.want();
    EXPECT_EQ(rig.dialled(), 2U) << "it takes no other one";
    backend.respond(0, 200, "done");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(rig.answer(0).body, "done");
    EXPECT_TRUE(rig.wire(0).letGo);
  }
}

TEST(ConnectionSettings, OfAPlanThatHasNoneAreThoseOfTheProcess) {
  PoolOptions options;
  options.timeouts.upstreamIdle = std::chrono::hours(10);
  PoolRig rig(options);
  rig.want();
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.advance(std::chrono::hours(9));
  EXPECT_FALSE(rig.wire(0).letGo) << "a connection may be of any age";
}

}  // namespace
}  // namespace sluice::upstream
