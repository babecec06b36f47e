// Tests of config/prometheus and config/kustomize/monitoring: the alerts are those of the product, and name metrics,
// labels and values that the code has. test/integration/observability runs promtool on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "proxy/kubernetes/provision/gateway_to_run.h"
#include "proxy/kubernetes/provision/provisioned_object.h"
#include "test/server/monitoring/known_query.h"
#include "test/support/reference_page.h"

namespace sluice::server {
namespace {

using content::Value;
using testing::Contains;
using testing::ElementsAreArray;

const std::vector<std::string> kAlerts{"SluiceRollback",       "SluiceFaultyObjects",  "SluiceCertificateExpires",
                                       "SluiceBackendErrors",  "SluiceLimitSaturated", "SluiceDnsFailures",
                                       "SluiceBudgetExhausted"};

std::vector<Value> alertRules() {
  std::vector<Value> rules;
  const Value file = shippedYaml("prometheus/rules.yaml");
  for (const Value& group : shippedValue(file, "groups").items) {
    for (const Value& rule : shippedValue(group, "rules").items) rules.push_back(rule);
  }
  return rules;
}

std::string lowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns the limits that the rule of an alert names.
std::set<std::string> limitsOf(const std::string& alert) {
  std::set<std::string> limits;
  for (const Value& rule : alertRules()) {
    if (shippedValue(rule, "alert").text != alert) continue;
    for (const QuerySelector& selector : namesInQuery(shippedValue(rule, "expr").text).selectors) {
      for (const QueryMatcher& matcher : selector.matchers) {
        if (matcher.label == "limit") limits.merge(alternativesOf(matcher));
      }
    }
  }
  return limits;
}

/// Returns the titles of the subsections of a section.
std::vector<std::string> subsectionsOf(const std::string& section) {
  std::vector<std::string> titles;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### ")) titles.push_back(line.substr(4));
  }
  return titles;
}

TEST(PrometheusRules, AreTheAlertsOfTheProductWithSeverityWordsAndRunbook) {
  std::vector<std::string> alerts;
  for (const Value& rule : alertRules()) {
    const std::string& alert = shippedValue(rule, "alert").text;
    if (alerts.empty() || alerts.back() != alert) alerts.push_back(alert);
    const std::string& severity = shippedValue(rule, "labels.severity").text;
    EXPECT_TRUE(severity == "critical" || severity == "warning") << alert;
    EXPECT_FALSE(shippedValue(rule, "annotations.summary").text.empty()) << alert;
    EXPECT_FALSE(shippedValue(rule, "annotations.description").text.empty()) << alert;
    EXPECT_EQ(shippedValue(rule, "annotations.runbook_url").text,
              "https://sluice.dev/reference/runbook#" + lowerCase(alert));
  }
  EXPECT_EQ(alerts, kAlerts);
}

TEST(PrometheusRules, NameWhatTheCodeHas) {
  static const std::regex kLabel(R"(\$labels\.(\w+))");
  for (const Value& rule : alertRules()) {
    const std::set<std::string> labels = expectKnown(shippedValue(rule, "expr").text);
    for (const char* name : {"annotations.summary", "annotations.description"}) {
      const std::string& text = shippedValue(rule, name).text;
      for (auto at = std::sregex_iterator(text.begin(), text.end(), kLabel); at != std::sregex_iterator(); ++at) {
        EXPECT_THAT(labels, Contains((*at)[1].str())) << shippedValue(rule, "alert").text;
      }
    }
  }
}

TEST(PrometheusRules, HaveTestsOfEachAlertWithSeriesOfTheCode) {
  const Value file = shippedYaml("prometheus/rules_test.yaml");
  std::set<std::string> tested;
  static const std::regex kAlert(R"re(alertname="(\w+)")re");
  for (const Value& test : shippedValue(file, "tests").items) {
    for (const Value& input : shippedValue(test, "input_series").items) expectKnown(shippedValue(input, "series").text);
    if (const Value* cases = test.find("alert_rule_test")) {
      for (const Value& each : cases->items) {
        if (!shippedValue(each, "exp_alerts").items.empty()) tested.insert(shippedValue(each, "alertname").text);
      }
    }
    if (const Value* cases = test.find("promql_expr_test")) {
      for (const Value& each : cases->items) {
        std::smatch alert;
        if (std::regex_search(shippedValue(each, "expr").text, alert, kAlert)) tested.insert(alert[1]);
      }
    }
  }
  EXPECT_EQ(tested, std::set<std::string>(kAlerts.begin(), kAlerts.end()));
}

TEST(PrometheusRules, OfPrometheusOperatorAreTheSame) {
  const std::string object = shippedText("kustomize/monitoring/prometheus-rule.yaml");
  std::istringstream rules(shippedText("prometheus/rules.yaml"));
  std::string nested;
  for (std::string line; std::getline(rules, line);) nested += (line.empty() ? "" : "  ") + line + "\n";
  const std::size_t spec = object.find("\nspec:\n");
  ASSERT_NE(spec, std::string::npos);
  EXPECT_EQ(object.substr(spec + 7), nested) << "the head of the file has the command that makes it anew";
  EXPECT_EQ(shippedValue(shippedYaml("kustomize/monitoring/prometheus-rule.yaml"), "kind").text, "PrometheusRule");
}

TEST(PodMonitor, ReadsTheHealthPortOfControllersAndGateways) {
  const Value monitor = shippedYaml("kustomize/monitoring/pod-monitor.yaml");
  const Value& selected = shippedValue(monitor, "spec.selector.matchExpressions").items.at(0);
  const std::string& key = shippedValue(selected, "key").text;
  std::vector<std::string> values;
  for (const Value& value : shippedValue(selected, "values").items) values.push_back(value.text);
  config::Gateway gateway;
  gateway.meta.name = "egress";
  EXPECT_THAT(values, Contains(kubernetes::selectorOf(gateway).at(key)));
  const Value controller = shippedYaml("kustomize/default/controller.yaml");
  EXPECT_THAT(values, Contains(shippedValue(controller, "spec.template.metadata.labels").find(key)->text));
  const Value& container = shippedValue(controller, "spec.template.spec.containers").items.at(0);
  const Value& endpoint = shippedValue(monitor, "spec.podMetricsEndpoints").items.at(0);
  EXPECT_EQ(shippedValue(endpoint, "port").text,
            shippedValue(shippedValue(container, "ports").items.at(0), "name").text);
  const std::string label =
      std::regex_replace(std::string(kubernetes::kGatewayNameLabel), std::regex("[^a-z0-9]"), "_");
  EXPECT_NE(shippedText("kustomize/monitoring/pod-monitor.yaml").find("_pod_label_" + label), std::string::npos);
}

TEST(PodMonitor, AndItsRulesAreAllThatTheKustomizationHas) {
  std::set<std::string> files{"kustomization.yaml"};
  const Value kustomization = shippedYaml("kustomize/monitoring/kustomization.yaml");
  for (const Value& file : shippedValue(kustomization, "resources").items) files.insert(file.text);
  std::set<std::string> found;
  const std::filesystem::path folder = SLUICE_SOURCE_DIR "/config/kustomize/monitoring";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) found.insert(entry.path().filename().string());
  EXPECT_EQ(files, found);
}

TEST(PodMonitor, DoesNotHideTheNamespaceOfTheCaller) {
  EXPECT_THAT(targetLabels(), testing::Not(Contains("namespace")));
  const Value monitor = shippedYaml("kustomize/monitoring/pod-monitor.yaml");
  const Value& endpoint = shippedValue(monitor, "spec.podMetricsEndpoints").items.at(0);
  const Value& last = shippedValue(endpoint, "relabelings").items.back();
  EXPECT_EQ(shippedValue(last, "action").text + " " + shippedValue(last, "regex").text, "labeldrop namespace");
}

TEST(Runbook, HasASectionForEachAlertAndEachCode) {
  const std::string page = test::referencePage("runbook.md");
  const std::string alerts = test::pageSection(page, "## Alerts");
  const std::string codes = test::pageSection(page, "## Codes");
  EXPECT_EQ(subsectionsOf(alerts), kAlerts);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < base::kErrorTypeCount; ++i) {
    names.emplace_back(base::errorTypeName(static_cast<base::ErrorType>(i)));
  }
  EXPECT_EQ(subsectionsOf(codes), names) << "all codes, in the order of the code, and no others";
  for (const std::string& title : names) EXPECT_GT(test::pageSection(codes, "### " + title).size(), 120U) << title;
  for (const std::string& title : kAlerts) EXPECT_GT(test::pageSection(alerts, "### " + title).size(), 300U) << title;
}

TEST(Runbook, ExplainsEachLimitOfAnAlert) {
  const std::string page = test::referencePage("runbook.md");
  for (const auto& [alert, head] : {std::pair("SluiceLimitSaturated", "| limit | what is full | what to do |"),
                                    std::pair("SluiceBudgetExhausted", "| limit | what is used up | what to do |")}) {
    const std::string section = test::pageSection(page, "### " + std::string(alert));
    EXPECT_THAT(test::firstWords(test::pageTable(section, head)), ElementsAreArray(limitsOf(alert))) << alert;
  }
}

TEST(Runbook, AndTheReferenceHaveQueriesThatTheCodeAnswers) {
  static const std::regex kOfSluice(R"(\b(sluice_(?!lua_)|http_server_|http_client_|dns_lookup_|process_)\w+\{)");
  std::size_t count = 0;
  for (const char* page : {"runbook.md", "metrics.md"}) {
    std::istringstream lines(test::referencePage(page));
    for (std::string line; std::getline(lines, line);) {
      for (const std::string& quoted : test::quotedWords(line)) {
        if (!std::regex_search(quoted, kOfSluice)) continue;
        ++count;
        expectKnown(quoted);
      }
    }
  }
  EXPECT_GT(count, 10U);
}

}  // namespace
}  // namespace sluice::server
