#include "proxy/processing/phase.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::processing {
namespace {

/// Returns the names of phases in a text that follow a match of `before`, in their order.
std::vector<std::string> phasesIn(const std::string& text, const std::string& before) {
  const std::regex name(before + R"(([a-z]+-[a-z]+|connect)\b)");
  std::vector<std::string> phases;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator(); ++at) {
    if (phaseFrom((*at)[1].str())) phases.push_back((*at)[1]);
  }
  return phases;
}

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

TEST(Phase, IsDrawnWhereTheTextOfTheReferenceHasIt) {
  const std::string section = test::pageSection(test::referencePage("processors.md"), "## Phases");
  const std::size_t begin = section.find("```\nrequest\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string diagram = section.substr(begin, section.find("\n```\n", begin) - begin);
  const std::vector<std::string> drawn =
      phasesIn(test::referencePage("processors/phases.svg"), R"(class="phase"[^>]*>)");
  EXPECT_EQ(drawn, phasesIn(diagram, "(?:  |, )"));
  EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), kPhases);
}

TEST(Phase, FourPhasesHaveABody) {
  int bodies = 0;
  for (std::size_t i = 0; i < kPhases; ++i) bodies += hasBody(static_cast<Phase>(i)) ? 1 : 0;
  EXPECT_EQ(bodies, 4);
  EXPECT_FALSE(hasBody(Phase::kConnect));
}

}  // namespace
}  // namespace sluice::processing
