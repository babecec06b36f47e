#include "proxy/processing/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::processing {
namespace {

/// Returns the number of causes, which the enum alone knows.
std::size_t countOfCauses() {
  std::ifstream in(SLUICE_SOURCE_DIR "/proxy/processing/verdict.h");
  const std::string header{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = header.find("enum class Cause");
  const std::string body = header.substr(begin, header.find("};", begin) - begin);
  const std::regex enumerator("\n  k[A-Z]");
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(body.begin(), body.end(), enumerator), std::sregex_iterator()));
}

TEST(Causes, AreInTheReferenceByTheirNames) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < countOfCauses(); ++i) {
    const std::string name(causeName(static_cast<Cause>(i)));
    if (names.empty() || names.back() != name) names.push_back(name);  // two neighbours share a name
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"bad_body", "script_error", "budget"}));
  const auto rows = test::pageTable(test::referencePage("metrics.md"), "| reason | what happened |");
  EXPECT_EQ(test::firstWords(rows), names);
}

TEST(Verdict, RepliesWithFinalStatusesAloneAndNeverWithATunnel) {
  constexpr std::uint16_t kFinal[] = {200, 204, 302, 403, 599};
  constexpr std::uint16_t kOthers[] = {0, 100, 101, 199, 600, 999};
  constexpr std::uint16_t kSuccesses[] = {200, 204, 299};
  for (const std::uint16_t status : kFinal) EXPECT_TRUE(isPossible(status, false)) << status;
  for (const std::uint16_t status : kOthers) EXPECT_FALSE(isPossible(status, false)) << status;
  for (const std::uint16_t status : kSuccesses) EXPECT_FALSE(isPossible(status, true)) << status;
  EXPECT_TRUE(isPossible(401, true));
}

}  // namespace
}  // namespace sluice::processing
