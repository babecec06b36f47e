#include "config/ground/problem.h"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

Problem problemOf(const std::string& object, Severity severity = Severity::kError) {
  return {severity, {}, object, "spec", "it is wrong"};
}

TEST(ProblemText, NamesObjectAndField) {
  EXPECT_EQ(render(problemOf("HTTPRoute default/web")), "error: HTTPRoute default/web: spec: it is wrong");
}

TEST(FirstErrorOfProblems, IsNoWarning) {
  const Problems problems = {problemOf("HTTPRoute a/b", Severity::kWarning), problemOf("HTTPRoute c/d")};
  ASSERT_EQ(firstErrorOf(problems), &problems[1]);
  EXPECT_EQ(firstError(problems), render(problems[1]));
  const Problems warning = {problems[0]};
  EXPECT_EQ(firstErrorOf(warning), nullptr);
  EXPECT_EQ(firstError({}), "");
}

TEST(NamespaceOfAProblem, IsThatOfItsObject) {
  EXPECT_EQ(namespaceOf(problemOf("HTTPRoute default/web")), "default");
  EXPECT_EQ(namespaceOf(problemOf("GatewayClass egress")), "");
  EXPECT_EQ(namespaceOf(problemOf("HTTPRoute")), "");
  EXPECT_EQ(namespaceOf(problemOf("")), "");
  EXPECT_EQ(namespaceOf(problemOf("a/b c")), "") << "no object is named like this";
}

}  // namespace
}  // namespace sluice::config
