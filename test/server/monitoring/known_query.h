// Compares a query with the tables of the code, and reads the files that have queries.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/yaml_reader.h"
#include "proxy/base/error.h"
#include "proxy/content/value.h"
#include "proxy/control/state/revisions.h"
#include "proxy/observe/limit_names.h"
#include "test/server/monitoring/metric_table.h"
#include "test/server/monitoring/query_names.h"

namespace sluice::server {

/// Returns the text of a file below config/. It is a test failure if there is none.
inline std::string shippedText(const std::string& name) {
  std::ifstream in(SLUICE_SOURCE_DIR "/config/" + name);
  EXPECT_TRUE(in.good()) << "config/" << name << " is missing";
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the one document of a YAML file below config/. It is a test failure if it has faults.
inline content::Value shippedYaml(const std::string& name) {
  config::Problems problems;
  std::vector<config::Document> documents =
      config::readYaml(shippedText(name), {std::make_shared<const std::string>(name)}, problems);
  EXPECT_TRUE(problems.empty() && documents.size() == 1) << name;
  return documents.size() == 1 ? std::move(documents.front().root) : content::Value();
}

/// Returns the value at a path of keys, such as "spec.groups". It is a test failure if there is none.
inline const content::Value& shippedValue(const content::Value& root, const std::string& path) {
  static const content::Value kNone;
  const content::Value* value = &root;
  std::istringstream keys(path);
  for (std::string key; std::getline(keys, key, '.');) {
    value = value->find(key);
    if (value == nullptr) {
      ADD_FAILURE() << "there is no " << path;
      return kNone;
    }
  }
  return *value;
}

/// Returns the labels that Prometheus sets by itself, or as the PodMonitor tells it.
inline const std::set<std::string>& targetLabels() {
  static const std::set<std::string> kLabels = [] {
    std::set<std::string> labels{"job", "instance", "pod"};
    const content::Value monitor = shippedYaml("kustomize/monitoring/pod-monitor.yaml");
    for (const content::Value& endpoint : shippedValue(monitor, "spec.podMetricsEndpoints").items) {
      for (const content::Value& relabeling : shippedValue(endpoint, "relabelings").items) {
        if (const content::Value* label = relabeling.find("targetLabel")) labels.insert(label->text);
      }
    }
    return labels;
  }();
  return kLabels;
}

/// Returns the alternatives of "a|b" in a matcher that has nothing else.
inline std::set<std::string> alternativesOf(const QueryMatcher& matcher) {
  std::set<std::string> alternatives;
  std::istringstream parts(matcher.value);
  for (std::string part; std::getline(parts, part, '|');) alternatives.insert(part);
  return alternatives;
}

/// Returns whether a series can have this value. Only labels are judged whose values are in a table.
inline bool canHaveValue(const std::string& series, const std::string& label, std::string_view value) {
  if (value.empty()) return true;
  if (label == "limit") {
    return std::find(observe::kLimitNames.begin(), observe::kLimitNames.end(), value) != observe::kLimitNames.end();
  }
  if (label == "error_type") {
    for (std::size_t i = 0; i < base::kErrorTypeCount; ++i) {
      if (base::errorTypeName(static_cast<base::ErrorType>(i)) == value) return true;
    }
    return false;
  }
  if (series != "sluice_config_state" || label != "state") return true;
  return std::any_of(std::begin(control::kConfigStates), std::end(control::kConfigStates),
                     [value](control::ConfigState state) { return control::configStateName(state) == value; });
}

/// Expects every metric, label and value of a query to be in the code, and returns the labels that its result can have.
inline std::set<std::string> expectKnown(const std::string& query) {
  const QueryNames names = namesInQuery(query);
  EXPECT_FALSE(names.selectors.empty()) << query;
  std::set<std::string> all = targetLabels();
  for (const QuerySelector& selector : names.selectors) {
    const auto found = seriesOfTheCode().find(selector.series);
    if (found == seriesOfTheCode().end()) {
      ADD_FAILURE() << "there is no metric " << selector.series << " in " << query;
      continue;
    }
    all.insert(found->second.begin(), found->second.end());
    for (const QueryMatcher& matcher : selector.matchers) {
      EXPECT_TRUE(found->second.contains(matcher.label) || targetLabels().contains(matcher.label))
          << selector.series << " has no label " << matcher.label << " in " << query;
      for (const std::string& value : alternativesOf(matcher)) {
        EXPECT_TRUE(canHaveValue(selector.series, matcher.label, value))
            << matcher.label << " is never " << value << " in " << query;
      }
    }
  }
  for (const std::string& label : names.grouped) {
    EXPECT_TRUE(all.contains(label)) << "there is no label " << label << " in " << query;
  }
  return names.grouped.empty() ? all : names.grouped;
}

}  // namespace sluice::server
