#include "proxy/compile/processors/processor_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read/processors/processor_settings.h"

namespace sluice::compile {
namespace {

using ::testing::ElementsAre;

TEST(ProcessorSupport, DescribesTheProgramsTypes) {
  using processing::Phase;
  const config::ProcessorSupport support =
      supportOf({{"a.test/A:v1", {Phase::kConnect, Phase::kResponseBody}, true, "{}", nullptr}});
  ASSERT_EQ(support.types.size(), 1u);
  EXPECT_EQ(support.types[0].type, "a.test/A:v1");
  EXPECT_THAT(support.types[0].phases, ElementsAre("connect", "response-body"));
  EXPECT_TRUE(support.types[0].preAuth);
  EXPECT_EQ(support.types[0].schema, "{}");
  EXPECT_TRUE(support.engines.empty());
}

TEST(ProcessorSupport, HasTheEnginesWhetherOrNotTheyHaveATypeOfTheirOwn) {
  const config::ProcessorSupport support =
      supportOf({{.type = "a.test/A:v1", .phases = {processing::Phase::kConnect}, .schema = "{}", .engine = "asks"},
                 {.phases = {processing::Phase::kConnect}, .engine = "computes"},
                 {.type = "a.test/B:v1", .phases = {processing::Phase::kConnect}, .schema = "{}"}});
  EXPECT_THAT(support.engines, ElementsAre("asks", "computes"));
  ASSERT_EQ(support.types.size(), 2u);
  EXPECT_EQ(support.types[0].type, "a.test/A:v1");
  EXPECT_EQ(support.types[1].type, "a.test/B:v1");
}

TEST(ProcessorSupport, PhasesHaveTheSameNamesAndOrderInAllFolders) {
  for (std::size_t i = 0; i < processing::kPhases; ++i) {
    EXPECT_EQ(processing::phaseName(static_cast<processing::Phase>(i)), config::kProcessorPhases[i]);
  }
  EXPECT_EQ(config::phaseIndex("none"), processing::kPhases);
}

}  // namespace
}  // namespace sluice::compile
