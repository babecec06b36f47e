// Failures are kept by whose fault they are, so that a flood of one kind displaces no other.
#include "proxy/exchange/telemetry/recent_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test/exchange/telemetry/told_events.h"

namespace sluice::exchange {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class KeptFailures : public EventsOfSteps {
 protected:
  static std::uint64_t countOf(const FailureReport& report, base::ErrorOrigin origin, base::ErrorType type) {
    return report.counts[static_cast<std::size_t>(origin)][static_cast<std::size_t>(type)];
  }
  static std::ptrdiff_t keptOf(const FailureReport& report, base::ErrorOrigin origin) {
    return std::count_if(report.recent.begin(), report.recent.end(),
                         [origin](const RecentFailure& each) { return each.origin == origin; });
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, KeptFailures, ::testing::Values(std::tuple(Version::kHttp11, Version::kHttp11)));

TEST_P(KeptFailures, AreBoundedForEachOriginAndAllCounted) {
  Rig& rig = with({answering()});
  const std::uint64_t asked = RecentFailures::kMostOfOrigin + 3;
  for (std::uint64_t i = 0; i < asked; ++i) get();
  const FailureReport report = rig.failures();
  EXPECT_EQ(countOf(report, base::ErrorOrigin::kDownstream, base::ErrorType::kHttpRequestError), asked);
  EXPECT_EQ(keptOf(report, base::ErrorOrigin::kDownstream), static_cast<std::ptrdiff_t>(RecentFailures::kMostOfOrigin));
  EXPECT_THAT(report.denied, IsEmpty()) << "a mistake of the client is no denial";
  const RecentFailure& failure = report.recent.front();
  EXPECT_EQ(failure.status, 400);
  EXPECT_EQ(failure.message, "no");
  EXPECT_FALSE(failure.requestId.empty());
}

TEST_P(KeptFailures, NameWhoWasDeniedAndByWhat) {
  Rig& rig = with({ofObject(
      step("guard", Phase::kRequestHeaders,
           [](Call&) {
             return Verdict::reply(
                 {base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor, "not you"), {}});
           }),
      "TrafficPolicy demo/guard")});
  get();
  get();
  const FailureReport report = rig.failures();
  ASSERT_THAT(report.denied, SizeIs(1));
  EXPECT_EQ(report.denied[0].count, 2u);
  EXPECT_EQ(report.denied[0].by, "guard");
  EXPECT_EQ(report.denied[0].assurance, base::Assurance::kNone);
  EXPECT_FALSE(report.denied[0].client.empty()) << "without an identity it is the address";
  EXPECT_EQ(countOf(report, base::ErrorOrigin::kProcessor, base::ErrorType::kHttpRequestDenied), 2u);
}

}  // namespace
}  // namespace sluice::exchange
