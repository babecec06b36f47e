#include "proxy/processing/phase.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/reference_page.h"

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

TEST(Phase, IsInTheReferenceInItsOrder) {
  const auto rows = test::pageTable(test::referencePage("processors.md"), "| phase | the step sees | body |");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPhases; ++i) names.emplace_back(phaseName(static_cast<Phase>(i)));
  ASSERT_EQ(test::firstWords(rows), names);
  for (std::size_t i = 0; i < kPhases; ++i) {
    EXPECT_EQ(rows[i].at(2), hasBody(static_cast<Phase>(i)) ? "yes" : "no") << names[i];
  }
}

TEST(Phase, FourPhasesHaveABody) {
  int bodies = 0;
  for (std::size_t i = 0; i < kPhases; ++i) bodies += hasBody(static_cast<Phase>(i)) ? 1 : 0;
  EXPECT_EQ(bodies, 4);
  EXPECT_FALSE(hasBody(Phase::kConnect));
}

}  // namespace
}  // namespace sluice::processing
