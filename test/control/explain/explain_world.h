// Explains requests by a configuration that a test writes, and renders the explanations briefly.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/explain/explain.h"
#include "test/compile/compile_world.h"

namespace sluice::control::test {

using compile::test::configMap;
using compile::test::gatewayWith;
using compile::test::kBackend;
using compile::test::kClass;
using compile::test::keyPair;
using compile::test::kGateway;
using compile::test::kRoute;
using compile::test::routeWithRules;
using compile::test::server;
using compile::test::with;
using compile::test::World;

/// Returns the question about a GET, with these headers.
inline RequestInQuestion asking(std::string url, std::vector<std::string> headers = {}) {
  RequestInQuestion question;
  question.url = std::move(url);
  question.headers = std::move(headers);
  return question;
}

inline Explanation explained(const World& world, const RequestInQuestion& question) {
  auto explanation = explain(world.snapshot(), world.model(), question);
  EXPECT_TRUE(explanation.ok()) << explanation.error().detail;
  return explanation.ok() ? *explanation : Explanation();
}
inline Explanation explained(const World& world, const std::string& url) { return explained(world, asking(url)); }

/// Returns why there is no explanation.
inline std::string refusedQuestion(const World& world, const RequestInQuestion& question) {
  const auto explanation = explain(world.snapshot(), world.model(), question);
  return explanation.ok() ? "" : explanation.error().detail;
}

/// Returns "route/rule: reason" of each rule that was passed over.
inline std::vector<std::string> passedOver(const Explanation& explanation) {
  std::vector<std::string> texts;
  for (const PassedOver& each : explanation.others)
    texts.push_back(each.rule.route + "/" + std::to_string(each.rule.index) + ": " + each.reason);
  return texts;
}

/// Returns "type of scope" of each filter.
inline std::vector<std::string> filterNames(const std::vector<ExplainedFilter>& filters) {
  std::vector<std::string> texts;
  for (const ExplainedFilter& each : filters) texts.push_back(each.type + " of " + each.scope);
  return texts;
}

/// Returns "name in stage" of each step.
inline std::vector<std::string> stepNames(const std::vector<ExplainedStep>& steps) {
  std::vector<std::string> texts;
  for (const ExplainedStep& each : steps) texts.push_back(each.name + " in " + each.stage);
  return texts;
}

}  // namespace sluice::control::test
