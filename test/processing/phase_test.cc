#include "proxy/processing/phase.h"

#include <gtest/gtest.h>

namespace sluice::processing {
namespace {

TEST(Phase, IsKnownByItsName) {
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_EQ(phaseFrom(phaseName(phase)), phase);
  }
  EXPECT_EQ(phaseName(Phase::kBackendRequest), "backend-request");
  EXPECT_FALSE(phaseFrom("request"));
  EXPECT_FALSE(phaseFrom(""));
}

TEST(Phase, FourPhasesHaveABody) {
  int bodies = 0;
  for (std::size_t i = 0; i < kPhases; ++i) bodies += hasBody(static_cast<Phase>(i)) ? 1 : 0;
  EXPECT_EQ(bodies, 4);
  EXPECT_FALSE(hasBody(Phase::kConnect));
}

}  // namespace
}  // namespace sluice::processing
