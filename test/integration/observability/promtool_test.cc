// Runs promtool on what operators get, as they would: the alerts with their tests, and each query of the dashboards.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "test/integration/support/child_process.h"

namespace sluice::test {
namespace {

const std::string kRules = SLUICE_SOURCE_DIR "/config/prometheus/rules.yaml";
const std::string kRuleTests = SLUICE_SOURCE_DIR "/config/prometheus/rules_test.yaml";

std::string wholeText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs the tests of the alerts on these rules.
ProgramOutcome tested(const std::string& rules) {
  const TempDir folder;
  folder.write("rules.yaml", rules);
  return run({"promtool", "test", "rules", folder.write("rules_test.yaml", wholeText(kRuleTests))});
}

std::string replacedOnce(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Returns a file of rules with each query of a dashboard, whose variables have a value.
std::string rulesOfQueries(const std::string& dashboard) {
  static const std::regex kQuery(R"re("expr": "((?:[^"\\]|\\.)*)")re");
  static const std::regex kRange(R"(\$__rate_interval)");
  static const std::regex kVariable(R"(\$\w+)");
  std::string rules = "groups:\n  - name: dashboard\n    rules:\n";
  std::size_t count = 0;
  for (auto at = std::sregex_iterator(dashboard.begin(), dashboard.end(), kQuery); at != std::sregex_iterator(); ++at) {
    const std::string query = std::regex_replace(std::regex_replace((*at)[1].str(), kRange, "5m"), kVariable, "any");
    rules += "      - {record: query" + std::to_string(++count) + ", expr: \"" + query + "\"}\n";
  }
  EXPECT_GT(count, 10U);
  return rules;
}

TEST(Promtool, AcceptsTheAlertsAndTheirTests) {
  const ProgramOutcome checked = run({"promtool", "check", "rules", kRules});
  EXPECT_EQ(checked.exitCode, 0) << checked.output << checked.errors;
  const ProgramOutcome outcome = tested(wholeText(kRules));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.errors;
}

TEST(Promtool, RefusesAlertsWithAnotherMetricOrThreshold) {
  const std::string rules = wholeText(kRules);
  for (const auto& [from, to] :
       {std::pair("(sluice_config_faulty_objects)", "(sluice_config_faults)"), std::pair("> 0.05", "> 0.2")}) {
    EXPECT_NE(tested(replacedOnce(rules, from, to)).exitCode, 0) << from;
  }
}

TEST(Promtool, AcceptsTheQueriesOfTheDashboards) {
  for (const char* name : {"gateways", "backends", "control-plane"}) {
    const TempDir folder;
    const std::string dashboard = wholeText(std::string(SLUICE_SOURCE_DIR "/config/grafana/") + name + ".json");
    const ProgramOutcome outcome =
        run({"promtool", "check", "rules", folder.write("rules.yaml", rulesOfQueries(dashboard))});
    EXPECT_EQ(outcome.exitCode, 0) << name << outcome.output << outcome.errors;
  }
}

}  // namespace
}  // namespace sluice::test
