// Tests the events of processors that fail and recover.
#include "proxy/exchange/telemetry/exchange_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "test/exchange/telemetry/told_events.h"

namespace sluice::exchange {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::Duration kCalm = processing::UseHealth::kCalm;
constexpr const char* kGuardFails =
    "Warning ProcessorFailed PayloadProcessor demo/guard x1: guard (acme.test/Script:v1), request-headers: error: "
    "it broke";
constexpr const char* kGuardRecovers =
    "Normal ProcessorRecovered PayloadProcessor demo/guard x1: guard (acme.test/Script:v1) does not fail any more";

class ProcessorEvents : public EventsOfSteps {
 protected:
  /// Makes a step that fails as long as `failing` says so.
  Step guard() {
    return ofObject(step("guard", Phase::kRequestHeaders,
                         [this](Call&) { return failing ? Verdict::fail("it broke") : Verdict::goOn(); }),
                    "PayloadProcessor demo/guard");
  }
  std::vector<std::string> ask() {
    get();
    return toldEvents(*rig_);
  }

  bool failing = true;
};
INSTANTIATE_TEST_SUITE_P(Versions, ProcessorEvents, ::testing::Values(std::tuple(Version::kHttp11, Version::kHttp11)));

TEST_P(ProcessorEvents, NameTheObjectOfAUseThatFailsAndRecovers) {
  Rig& rig = with({guard(), answering()});
  EXPECT_THAT(ask(), ElementsAre(kGuardFails));
  failing = false;
  EXPECT_THAT(ask(), IsEmpty()) << "it may fail again";
  rig.advance(kCalm);
  EXPECT_THAT(ask(), ElementsAre(kGuardRecovers));
  EXPECT_THAT(ask(), IsEmpty()) << "it is told once";
  failing = true;
  EXPECT_THAT(ask(), ElementsAre(kGuardFails));
}

TEST_P(ProcessorEvents, SayNothingOfARecoveryBetweenFailures) {
  Rig& rig = with({guard(), answering()});
  for (int i = 0; i < 3; ++i) {
    failing = true;
    EXPECT_THAT(ask(), ElementsAre(kGuardFails));
    failing = false;
    rig.advance(kCalm - seconds(1));
    EXPECT_THAT(ask(), IsEmpty());
  }
}

TEST_P(ProcessorEvents, AreToldForAUseThatFailsOpen) {
  Rig& rig = with({open(guard()), answering()});
  EXPECT_THAT(ask(), ElementsAre(kGuardFails));
  failing = false;
  rig.advance(kCalm);
  EXPECT_THAT(ask(), ElementsAre(kGuardRecovers));
}

TEST_P(ProcessorEvents, DoNotBlameAProcessorIfTheGatewayIsFull) {
  options_.listener = [](routing::ServedListener& listener) { listener.object = "Gateway demo/egress"; };
  with({ofObject(
      step("guard", Phase::kRequestHeaders,
           [](Call&) { return Verdict::fail("there is no room", processing::Cause::kNoRoom, "processorBufferTotal"); }),
      "PayloadProcessor demo/guard")});
  EXPECT_THAT(ask(), ElementsAre("Warning RequestDenied Gateway demo/egress x1: processor_capacity_reached: there is "
                                 "no room (processorBufferTotal)"));
}

}  // namespace
}  // namespace sluice::exchange
