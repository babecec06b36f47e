// Tests the uses that stand in for others: when they run, and the conditions of those that cannot.
#include "proxy/compile/processors/fallbacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string typed(const std::string& name, const std::string& more = {},
                  const std::string& type = "sluice.dev/Test:v1") {
  return "{name: " + name + ", type: '" + type + "', phase: request-headers" + more + "}";
}

/// Returns a world with these uses at its only rule.
test::World worldOfUses(const std::string& uses) {
  const std::string route = test::routeWithRules(
      "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [" + uses +
      "]}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  return test::World({test::kClass, test::kGateway, test::kBackend, route}, nullptr, test::processorTypes());
}

/// Returns the steps of the rule, each with its stand-ins behind "/", or the status of its answer.
std::vector<std::string> stepsOf(const test::World& world) {
  std::vector<std::string> names;
  const auto match = routing::routesOf(world.bind(80)->service).match(test::RequestMaker("GET", "a.test", "/").head());
  if (match.rule == nullptr || match.rule->chain == nullptr) return names;
  for (const processing::Step& step : match.rule->chain->all()) {
    std::string name = step.name + (step.failOpen ? "?" : "");
    for (const processing::Step* each = step.standIn(); each != nullptr; each = each->standIn()) {
      name += "/" + each->name + (each->failOpen ? "?" : "");
    }
    if (step.fallback && step.standIn() == nullptr) name += " " + std::to_string(step.fallback->status);
    names.push_back(name);
  }
  return names;
}

TEST(Fallbacks, HaveNoStepOfTheirOwn) {
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", fallback: {use: b}") + ", " + typed("b"))), ElementsAre("a?/b"));
  EXPECT_THAT(stepsOf(worldOfUses(typed("b", ", priority: -1") + ", " + typed("a", ", fallback: {use: b}") + ", " +
                                  typed("c"))),
              ElementsAre("a?/b", "c"));
}

TEST(Fallbacks, MayHaveFallbacksAndAnswers) {
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", fallback: {use: b}") + ", " + typed("b", ", fallback: {use: c}") +
                                  ", " + typed("c", ", failOpen: true"))),
              ElementsAre("a?/b?/c?"));
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", failOpen: true, fallback: {response: {}}"))), ElementsAre("a 503"));
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", fallback: {response: {status: 429}}"))), ElementsAre("a 429"));
}

TEST(Fallbacks, TakeThePlaceOfAUseThatCannotRun) {
  const std::string absent = "acme.test/Absent:v1";
  const test::World replaced = worldOfUses(typed("a", ", fallback: {use: b}", absent) + ", " + typed("b"));
  EXPECT_THAT(stepsOf(replaced), ElementsAre("b"));
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", fallback: {response: {status: 451}}", absent))), ElementsAre("a"));
}

TEST(Fallbacks, FailClosedIfTheyCannotRunThemselves) {
  const std::string absent = "acme.test/Absent:v1";
  EXPECT_THAT(stepsOf(worldOfUses(typed("a", ", failOpen: true, fallback: {use: b}") + ", " + typed("b", "", absent))),
              ElementsAre("a"));
}

}  // namespace
}  // namespace sluice::compile
