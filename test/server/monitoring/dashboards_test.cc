// Tests of config/grafana: the dashboards are what Grafana reads, and name metrics and labels that the code has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "test/server/monitoring/known_query.h"
#include "test/support/reference_page.h"

namespace sluice::server {
namespace {

using content::Value;
using testing::Contains;
using testing::IsSupersetOf;

const std::string kDashboardFolder = SLUICE_SOURCE_DIR "/config/grafana";

/// Returns the dashboards by the names of their files.
std::map<std::string, Value> dashboards() {
  std::map<std::string, Value> found;
  for (const auto& entry : std::filesystem::directory_iterator(kDashboardFolder)) {
    const std::string name = entry.path().filename().string();
    base::Result<Value> parsed = content::parseJson(shippedText("grafana/" + name));
    EXPECT_TRUE(parsed.ok()) << name;
    if (parsed.ok()) found.emplace(name, std::move(parsed).value());
  }
  return found;
}

bool isRow(const Value& panel) { return shippedValue(panel, "type").text == "row"; }

std::set<std::string> variablesOf(const Value& dashboard) {
  std::set<std::string> names;
  for (const Value& variable : shippedValue(dashboard, "templating.list").items) {
    EXPECT_TRUE(names.insert(shippedValue(variable, "name").text).second);
  }
  return names;
}

/// Expects each variable in a text of a dashboard to be one of its own or of Grafana.
void expectVariables(const std::string& text, const std::set<std::string>& known) {
  static const std::regex kVariable(R"(\$\{?(\w+))");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kVariable); at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[1];
    EXPECT_TRUE(name == "__rate_interval" || known.contains(name)) << name << " in " << text;
  }
}

void expectTarget(const Value& target, const std::set<std::string>& variables) {
  static const std::regex kLegendLabel(R"(\{\{(\w+)\}\})");
  const std::string& query = shippedValue(target, "expr").text;
  expectVariables(query, variables);
  EXPECT_EQ(shippedValue(target, "datasource.uid").text, "${datasource}") << query;
  const std::set<std::string> labels = expectKnown(query);
  const Value* legend = target.find("legendFormat");
  if (legend == nullptr) return;
  for (auto at = std::sregex_iterator(legend->text.begin(), legend->text.end(), kLegendLabel);
       at != std::sregex_iterator(); ++at) {
    EXPECT_THAT(labels, Contains((*at)[1].str())) << query;
  }
}

TEST(Dashboards, HaveNamesOfTheirOwnAndTheirVariables) {
  std::set<std::string> uids;
  std::set<std::string> files;
  for (const auto& [name, dashboard] : dashboards()) {
    files.insert(name);
    EXPECT_TRUE(uids.insert(shippedValue(dashboard, "uid").text).second) << name;
    EXPECT_GE(std::stoi(shippedValue(dashboard, "schemaVersion").text), 39) << name;
    EXPECT_FALSE(shippedValue(dashboard, "title").text.empty()) << name;
    EXPECT_THAT(variablesOf(dashboard), IsSupersetOf({"datasource", "namespace", "gateway"})) << name;
    EXPECT_EQ(dashboard.find("id"), nullptr) << "Grafana gives it: " << name;
  }
  EXPECT_EQ(files, (std::set<std::string>{"backends.json", "control-plane.json", "gateways.json"}));
  const std::string runbook = test::referencePage("runbook.md");
  for (const std::string& name : files) EXPECT_NE(runbook.find("config/grafana/" + name), std::string::npos) << name;
}

TEST(Dashboards, HavePanelsWithTitleUnitAndDescription) {
  for (const auto& [name, dashboard] : dashboards()) {
    std::set<std::string> ids;
    std::set<std::string> titles;
    for (const Value& panel : shippedValue(dashboard, "panels").items) {
      const std::string& title = shippedValue(panel, "title").text;
      EXPECT_TRUE(ids.insert(shippedValue(panel, "id").text).second) << name << ": " << title;
      if (isRow(panel)) continue;
      EXPECT_TRUE(titles.insert(title).second) << name << ": " << title;
      EXPECT_FALSE(shippedValue(panel, "fieldConfig.defaults.unit").text.empty()) << name << ": " << title;
      EXPECT_TRUE(shippedValue(panel, "description").text.ends_with('.')) << name << ": " << title;
      EXPECT_EQ(shippedValue(panel, "datasource.uid").text, "${datasource}") << name << ": " << title;
    }
    EXPECT_GT(ids.size(), 20U) << name;
  }
}

TEST(Dashboards, HavePanelsBesideEachOther) {
  for (const auto& [name, dashboard] : dashboards()) {
    std::set<std::pair<int, int>> taken;
    for (const Value& panel : shippedValue(dashboard, "panels").items) {
      std::map<std::string, int> place;
      for (const char* key : {"x", "y", "w", "h"}) {
        place[key] = std::stoi(shippedValue(shippedValue(panel, "gridPos"), key).text);
      }
      EXPECT_LE(place["x"] + place["w"], 24) << name;
      bool isFree = true;
      for (int x = 0; x < place["w"]; ++x) {
        for (int y = 0; y < place["h"]; ++y) {
          isFree = taken.emplace(place["x"] + x, place["y"] + y).second && isFree;
        }
      }
      EXPECT_TRUE(isFree) << name << ": " << shippedValue(panel, "title").text;
    }
  }
}

TEST(Dashboards, NameWhatTheCodeHas) {
  for (const auto& [name, dashboard] : dashboards()) {
    const std::set<std::string> variables = variablesOf(dashboard);
    for (const Value& panel : shippedValue(dashboard, "panels").items) {
      if (isRow(panel)) continue;
      std::set<std::string> references;
      for (const Value& target : shippedValue(panel, "targets").items) {
        EXPECT_TRUE(references.insert(shippedValue(target, "refId").text).second) << name;
        expectTarget(target, variables);
      }
      EXPECT_FALSE(references.empty()) << name;
    }
  }
}

TEST(Dashboards, FillTheirVariablesFromLabelsOfTheCode) {
  static const std::regex kValues(R"(label_values\((.+), (\w+)\))");
  for (const auto& [name, dashboard] : dashboards()) {
    const std::set<std::string> variables = variablesOf(dashboard);
    for (const Value& variable : shippedValue(dashboard, "templating.list").items) {
      if (shippedValue(variable, "type").text != "query") continue;
      const std::string& query = shippedValue(variable, "query.query").text;
      EXPECT_EQ(shippedValue(variable, "definition").text, query) << name;
      expectVariables(query, variables);
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(query, parts, kValues)) << query;
      EXPECT_THAT(expectKnown(parts[1]), Contains(parts[2].str())) << query;
    }
  }
}

}  // namespace
}  // namespace sluice::server
