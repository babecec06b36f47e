// Tests how judgements of callers are counted, and which ones are logged.
#include "proxy/exchange/telemetry/identity_telemetry.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/observe/metrics_reader.h"
#include "test/observe/support.h"
#include "test/support/manual_clock.h"

namespace sluice::exchange {
namespace {

class IdentityTelemetryTest : public ::testing::Test {
 protected:
  bool counted(const std::string& source, const std::string& result, int count) const {
    const std::string line =
        "sluice_identity_total{source=\"" + source + "\",result=\"" + result + "\"} " + std::to_string(count) + "\n";
    return observe::exposeMetrics(registry_).find(line) != std::string::npos;
  }

  observe::LogPipe pipe_;
  test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kDebug, clock_, observe::LineFile::over(pipe_.writer())};
  observe::BoundedLog debug_{&log_, clock_};
  observe::MetricsRegistry registry_;
  observe::MetricShard shard_{registry_};
  IdentityTelemetry identities_{shard_, debug_};
};

TEST_F(IdentityTelemetryTest, CountsBySourceAndResult) {
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kIdentified);
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kIdentified);
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kAbsent);
  identities_.onJudged(IdentitySource::kToken, IdentityResult::kRefused);
  identities_.letGo();
  identities_.onJudged(IdentitySource::kAddress, IdentityResult::kIdentified);
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kIdentified);
  EXPECT_TRUE(counted("certificate", "identified", 3));
  EXPECT_TRUE(counted("certificate", "absent", 1));
  EXPECT_TRUE(counted("token", "refused", 1));
  EXPECT_TRUE(counted("address", "identified", 1));
  EXPECT_FALSE(counted("token", "identified", 0)) << "a series begins with its first count";
}

TEST_F(IdentityTelemetryTest, LogsRefusalsAlone) {
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kIdentified);
  identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kAbsent);
  EXPECT_EQ(pipe_.read(), "");
  for (int i = 0; i < 200; ++i) identities_.onJudged(IdentitySource::kCertificate, IdentityResult::kRefused);
  const auto lines = observe::splitLines(pipe_.read());
  EXPECT_EQ(lines.size(), observe::BoundedLog::kMostPerSecond);
  EXPECT_NE(lines.at(0).find("\"source\":\"certificate\""), std::string::npos) << lines.at(0);
}

}  // namespace
}  // namespace sluice::exchange
