// Tests connections to names with several addresses, some of which do not answer.
#include "proxy/upstream/dial_race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// Timers are a few milliseconds late.
constexpr auto kLate = milliseconds(20);

class DialRaces : public ::testing::Test {
 protected:
  PoolRig& start(const PoolOptions& options = {}) {
    rig_.emplace(options);
    rig_->resolver.know(PoolRig::kHost, {"192.0.2.1", "192.0.2.2", "192.0.2.3"});
    return *rig_;
  }
  /// Returns the last bytes of the addresses that were dialled.
  std::string dialled() {
    std::string text;
    for (std::size_t i = 0; i < rig_->dialled(); ++i) text += rig_->wire(i).address().ip().back();
    return text;
  }
  bool holds(const std::string& ip) {
    return rig_->failedAddresses.holds(*net::Address::parse(ip, 8080), "", rig_->worker.now());
  }

  std::optional<PoolRig> rig_;
};

TEST_F(DialRaces, TheNextAddressIsDialledWhileTheFirstStillTries) {
  PoolRig& rig = start();
  const std::size_t request = rig.want();
  rig.advance(DialRace::kDelay - milliseconds(1));
  EXPECT_EQ(dialled(), "1");
  rig.advance(kLate);
  EXPECT_EQ(dialled(), "12");
  EXPECT_FALSE(rig.wire(0).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 2U) << "each takes a place while it lasts";
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_EQ(rig.upstreams->find(rig.connectionOf(request))->peer().ip(), "192.0.2.2");
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST_F(DialRaces, TheFirstAddressMayStillWin) {
  PoolRig& rig = start();
  const std::size_t request = rig.want();
  rig.advance(DialRace::kDelay + kLate);
  rig.advance(DialRace::kDelay + kLate);
  EXPECT_EQ(dialled(), "123");
  rig.accept(0);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_TRUE(rig.wire(1).letGo);
  EXPECT_TRUE(rig.wire(2).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 1U);
  EXPECT_FALSE(holds("192.0.2.3")) << "it had no time to answer";
}

TEST_F(DialRaces, AnAddressThatDidNotAnswerIsTriedLastForAWhile) {
  PoolRig& rig = start();
  rig.want();
  rig.advance(DialRace::kDelay + kLate);
  rig.accept(1);
  rig.want();
  ASSERT_EQ(dialled(), "122");
  rig.accept(2);
  rig.advance(FailedAddresses::kLifetime);
  rig.want();
  EXPECT_EQ(dialled(), "1221");
}

TEST_F(DialRaces, AnAddressThatRefusesIsTriedLastUntilItAnswers) {
  PoolRig& rig = start();
  rig.want();
  rig.wire(0).refuse();
  ASSERT_EQ(dialled(), "12");
  rig.accept(1);
  EXPECT_TRUE(holds("192.0.2.1"));
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1"});
  rig.want();
  ASSERT_EQ(dialled(), "121");
  rig.accept(2);
  EXPECT_FALSE(holds("192.0.2.1"));
}

TEST_F(DialRaces, WithoutRoomTheNextAddressTakesThePlaceOfOneThatHadASecond) {
  PoolOptions options;
  options.maxConnections = 1;
  PoolRig& rig = start(options);
  const std::size_t request = rig.want();
  rig.advance(DialRace::kPatience - milliseconds(1));
  EXPECT_EQ(dialled(), "1");
  rig.advance(kLate);
  EXPECT_EQ(dialled(), "12");
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 1U);
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST_F(DialRaces, AnAddressHasASecondForItsHandshake) {
  PoolOptions options;
  options.tls = true;
  PoolRig& rig = start(options);
  const std::size_t request = rig.want();
  rig.wire(0).beginHandshake();
  rig.advance(DialRace::kPatience - milliseconds(1));
  EXPECT_EQ(dialled(), "1");
  rig.advance(kLate);
  EXPECT_EQ(dialled(), "12");
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
  rig.want();
  EXPECT_EQ(dialled(), "122") << "an address whose handshakes hang is tried last, too";
}

TEST_F(DialRaces, AnAddressWithABadCertificateDoesNotEndTheOthers) {
  PoolOptions options;
  options.tls = true;
  PoolRig& rig = start(options);
  const std::size_t request = rig.want();
  rig.advance(DialRace::kDelay + kLate);
  rig.wire(1).fail(base::Error::upstream(base::ErrorType::kTlsCertificateError, "expired"));
  EXPECT_FALSE(rig.failed(request));
  rig.accept(0);
  EXPECT_TRUE(rig.begun(request));
  const std::string counted = "sluice_upstream_tls_handshakes_total{result=\"";
  EXPECT_THAT(observe::exposeMetrics(rig.metrics), HasSubstr(counted + "tls_certificate_error\",resumed=\"false\""));
  EXPECT_THAT(observe::exposeMetrics(rig.metrics), HasSubstr(counted + "success\",resumed=\"false\""));
}

TEST_F(DialRaces, TheErrorNamesTheLastAddressAndHowManyHaveFailed) {
  PoolRig& rig = start();
  const std::size_t request = rig.want();
  rig.advance(DialRace::kDelay + kLate);
  rig.wire(0).refuse();
  rig.advance(DialRace::kDelay + kLate);
  ASSERT_EQ(dialled(), "123");
  rig.wire(2).refuse();
  EXPECT_FALSE(rig.failed(request));
  rig.wire(1).refuse();
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).address, "192.0.2.2:8080");
  EXPECT_EQ(rig.error(request).message(), "refused: 3 addresses have failed, this one last");
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST_F(DialRaces, TheConnectTimeoutEndsThemAll) {
  PoolRig& rig = start();
  const std::size_t request = rig.want();
  for (int i = 0; i < 25 && !rig.failed(request); ++i) rig.advance(DialRace::kDelay);
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(dialled(), "123");
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kConnectionTimeout);
  EXPECT_EQ(rig.error(request).limit, "connect");
  EXPECT_EQ(rig.error(request).address, "192.0.2.3:8080");
  EXPECT_THAT(rig.error(request).message(), HasSubstr("3 addresses have failed"));
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"connect\"} 1"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(rig.wire(i).letGo) << i;
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST_F(DialRaces, EachAddressIsGuardedByItself) {
  PoolRig& rig = start();
  rig.resolver.know(PoolRig::kHost, {"192.0.2.1", "127.0.0.1", "2001:db8::2", "192.0.2.3"});
  const std::size_t request = rig.want();
  rig.advance(DialRace::kDelay + kLate);
  ASSERT_EQ(dialled(), "12") << "not the loopback address";
  UpstreamPolicy policy = PoolRig::policyOf({});
  policy.guard = *routing::AddressGuard::make({"2001:db8::/32"});
  rig.adopt(policy, {rig.plan});
  EXPECT_TRUE(rig.wire(0).letGo) << "it may not be dialled any more";
  EXPECT_FALSE(rig.wire(1).letGo);
  rig.advance(DialRace::kDelay + kLate);
  EXPECT_EQ(dialled(), "12");
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST_F(DialRaces, ARequestToChosenAddressesGoesOnToTheNextOneAsSoon) {
  PoolRig& rig = start();
  const std::size_t request = rig.wantOf({"192.0.2.1", "192.0.2.2"});
  rig.advance(DialRace::kDelay + kLate);
  ASSERT_EQ(dialled(), "12");
  EXPECT_FALSE(rig.wire(0).letGo);
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_TRUE(holds("192.0.2.1"));
  const std::size_t asker = rig.ask();
  EXPECT_EQ(rig.told(asker), "192.0.2.2:8080 192.0.2.3:8080 192.0.2.1:8080");
}

}  // namespace
}  // namespace sluice::upstream
