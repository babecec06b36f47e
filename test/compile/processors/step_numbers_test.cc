#include "proxy/compile/processors/step_numbers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using processing::Phase;

TEST(StepNumbers, AreTheSameForATypeInAPhaseAndForNoOther) {
  StepNumbers numbers;
  const std::uint32_t first = numbers.of("x.test/A:v1", Phase::kRequestHeaders);
  const std::set<std::uint32_t> all = {first, numbers.of("x.test/A:v1", Phase::kRequestBody),
                                       numbers.of("x.test/B:v1", Phase::kRequestHeaders)};
  EXPECT_EQ(all.size(), 3u);
  EXPECT_FALSE(all.contains(0));
  EXPECT_EQ(numbers.of("x.test/A:v1", Phase::kRequestHeaders), first);
}

TEST(StepNumbers, AreInTheStepsOfRules) {
  const auto use = [](const std::string& name, const std::string& phase) {
    return "{name: " + name + ", type: 'sluice.dev/Test:v1', phase: " + phase + "}";
  };
  const std::string route = test::routeWithRules(
      "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [" + use("a", "request-headers") + ", " +
      use("b", "request-headers") + ", " + use("c", "backend-request") +
      "]}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  const test::World world({test::kClass, test::kGateway, test::kBackend, route}, nullptr, test::processorTypes());
  const std::vector<processing::Step> steps = world.rule(test::RequestMaker("GET", "a.test", "/"))->chain->all();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_NE(steps[0].number, 0u);
  EXPECT_EQ(steps[0].number, steps[1].number);
  EXPECT_NE(steps[2].number, 0u);
  EXPECT_NE(steps[0].number, steps[2].number);
}

}  // namespace
}  // namespace sluice::compile
