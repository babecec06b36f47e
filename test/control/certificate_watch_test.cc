#include "proxy/control/report/certificate_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/manual_clock.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class CertificateWatchTest : public testing::Test {
 protected:
  CertificateWatchTest() { clock_.setWall(begin_); }

  /// Serves a listener whose certificate is valid for so long.
  void serve(std::chrono::hours valid) {
    sluice::test::CertificateSpec spec;
    spec.notAfter = valid;
    const auto identity = sluice::test::selfSigned(spec);
    auto snapshot = std::make_shared<routing::Snapshot>();
    routing::Bind& bind = snapshot->binds.emplace_back();
    bind.port = 443;
    bind.gateway = "Gateway demo/egress";
    bind.identities.push_back(
        {std::make_shared<const pki::CertificateChain>(pki::CertificateChain::parse(identity.certificate).value()),
         nullptr});
    watch_.adopt(*snapshot, {});
  }
  /// Serves a Backend whose client certificate was valid a year ago already, and is for so long.
  void serveClient(std::chrono::hours valid) { serveClients({valid}); }
  /// Serves one whose client certificate has a chain that is valid for so long, from the beginning of
  /// the test on.
  void serveClients(const std::vector<std::chrono::seconds>& valid) {
    NamedCertificate named;
    named.use = NamedCertificate::Use::kClient;
    named.object = "Backend demo/api";
    named.field = "spec.tls.clientCertificateRef";
    named.source = "Secret demo/client: tls.crt";
    for (const std::chrono::seconds each : valid) named.times.push_back({begin_ - 24h * 365, begin_ + each});
    watch_.adopt(routing::Snapshot(), {named});
  }
  void passes(base::Duration time) {
    clock_.advance(time);
    timers_.advance(clock_.now());
  }

  struct CountedReloads final : Reloadable {
    void reload() override { ++count; }
    int count = 0;
  };

  const base::WallTime begin_ = std::chrono::system_clock::now();
  sluice::test::ManualClock clock_;
  net::TimerWheel timers_{clock_.now()};
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(2)};
  observe::MetricsRegistry registry_;
  observe::MetricShard metrics_{registry_};
  observe::EventRing events_{log_, metrics_};
  CountedReloads reloads_;
  CertificateWatch watch_{events_, timers_, clock_, reloads_};
};

TEST_F(CertificateWatchTest, WarnsAMonthBeforeTheExpiry) {
  serve(24h * 60);
  EXPECT_EQ(events_.document(), "[]\n");
  serve(24h * 29);
  EXPECT_THAT(events_.document(), HasSubstr("\"reason\":\"CertificateExpires\",\"object\":\"Gateway demo/egress\","
                                            "\"message\":\"the certificate of the listener at *:443 is valid "
                                            "until "));
}

TEST_F(CertificateWatchTest, ChecksEveryDayWithoutANewConfiguration) {
  serve(24h * 32);
  passes(24h + 1min);
  EXPECT_EQ(events_.document(), "[]\n");
  passes(24h + 1min);
  EXPECT_THAT(events_.document(), HasSubstr("\"count\":1,"));
  passes(24h + 1min);
  EXPECT_THAT(events_.document(), HasSubstr("\"count\":2,"));
}

TEST_F(CertificateWatchTest, WarnsOfClientCertificatesAtTheirBackend) {
  serveClient(24h * 13);
  EXPECT_THAT(events_.document(),
              HasSubstr("\"reason\":\"CertificateExpires\",\"object\":\"Backend demo/api\",\"message\":\"Secret "
                        "demo/client: tls.crt: the certificate expires soon: it is valid until "));
}

TEST_F(CertificateWatchTest, RepeatsAWarningOnlyWhenADayHasPassed) {
  for (int i = 0; i < 3; ++i) serveClient(24h * 13);
  EXPECT_THAT(events_.document(), HasSubstr("\"count\":1,"));
  passes(24h + 1min);
  EXPECT_THAT(events_.document(), HasSubstr("\"count\":2,"));
  watch_.adopt(routing::Snapshot(), {});
  serveClient(24h * 13);
  EXPECT_THAT(events_.document(), HasSubstr("\"count\":3,")) << "it was not named any more";
}

TEST_F(CertificateWatchTest, HasTheConfigurationJudgedAgainWhenACertificateExpires) {
  serveClient(1h);
  passes(59min);
  EXPECT_EQ(reloads_.count, 0);
  passes(2min);
  EXPECT_EQ(reloads_.count, 1);
  EXPECT_THAT(events_.document(), HasSubstr("tls.crt: the certificate expired on "));
  passes(24h + 1min);
  EXPECT_EQ(reloads_.count, 1) << "nothing else has changed";
}

TEST_F(CertificateWatchTest, HasItJudgedAgainOnceAMinuteIfThousandsExpireOneAfterTheOther) {
  std::vector<std::chrono::seconds> valid;
  for (int i = 0; i < 300; ++i) valid.push_back(1h + std::chrono::seconds(i));
  serveClients(valid);
  passes(1h + 100ms);
  EXPECT_EQ(reloads_.count, 1) << "at once";
  for (int i = 0; i < 58; ++i) passes(1s);
  EXPECT_EQ(reloads_.count, 1);
  for (int i = 0; i < 300; ++i) passes(1s);
  EXPECT_EQ(reloads_.count, 6);
}

TEST_F(CertificateWatchTest, OwesAReloadAlthoughAnotherConfigurationIsServedMeanwhile) {
  serveClients({1h, 1h + 10s});
  passes(1h + 100ms);
  EXPECT_EQ(reloads_.count, 1);
  passes(20s);
  serveClients({24h * 300});
  passes(20s);
  EXPECT_EQ(reloads_.count, 1);
  passes(21s);
  EXPECT_EQ(reloads_.count, 2);
}

}  // namespace
}  // namespace sluice::control
