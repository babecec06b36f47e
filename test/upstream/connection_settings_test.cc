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

TEST(ConnectionSettings, GiveWayToABackendThatKeepsConnectionsForAShorterTime) {
  for (const auto& [said, kept] : {std::pair(seconds(5), seconds(4)), std::pair(seconds(100), seconds(60))}) {
    PoolRig rig;
    rig.want();
    rig.accept(0);
    rig.wire(0).deliver("HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=" + std::to_string(said.count()) +
                        ", max=9\r\n\r\n");
    ASSERT_TRUE(rig.settle());
    rig.done(0);
    rig.advance(kept - milliseconds(20));
    EXPECT_FALSE(rig.wire(0).letGo);
    rig.advance(milliseconds(40));
    EXPECT_TRUE(rig.wire(0).letGo);
    EXPECT_EQ(rig.counted("sluice_limit_hits_total{limit=\"upstreamIdle\"} 1"), kept == seconds(60));
  }
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

TEST(ConnectionSettings, HaveEachConnectionProbed) {
  const base::TcpKeepalive keepalive{3, seconds(4), seconds(5)};
  PoolRig rig({.connection = {.keepalive = keepalive}});
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  rig.want();
  rig.wire(0).refuse();
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(0).keepalive, keepalive);
  EXPECT_EQ(rig.wire(1).keepalive, keepalive);
  PoolRig plain;
  plain.want();
  EXPECT_FALSE(plain.wire(0).keepalive);
}

TEST(ConnectionSettings, SayHowTheNameIsLookedUp) {
  const base::DnsTerms terms{base::LookupFamily::kIpv6, false, seconds(7)};
  PoolRig rig({.connection = {.dns = terms}});
  rig.resolver.forget(PoolRig::kHost);
  rig.want();
  EXPECT_EQ(rig.resolver.questions, 1);
  EXPECT_EQ(rig.resolver.lastTerms, terms);
}

TEST(ConnectionSettings, LetAConnectionGoToTheFirstAddressAlone) {
  PoolRig rig({.connection = {.logicalDns = true}});
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2"});
  const std::size_t request = rig.want();
  const std::size_t asking = rig.ask();
  EXPECT_EQ(rig.told(asking), "192.0.2.1:8080");
  rig.wire(0).refuse();
  EXPECT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.dialled(), 1U);
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
