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
  CertificateWatchTest() { clock_.setWall(std::chrono::system_clock::now()); }

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
    watch_.adopt(*snapshot);
  }
  void passes(base::Duration time) {
    clock_.advance(time);
    timers_.advance(clock_.now());
  }

  sluice::test::ManualClock clock_;
  net::TimerWheel timers_{clock_.now()};
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(2)};
  observe::MetricsRegistry registry_;
  observe::MetricShard metrics_{registry_};
  observe::EventRing events_{log_, metrics_};
  CertificateWatch watch_{events_, timers_, clock_};
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

}  // namespace
}  // namespace sluice::control
