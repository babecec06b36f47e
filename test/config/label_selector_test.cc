#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Loads a Gateway with a single listener, which has `namespaces`.
Configuration loadGatewayAllowing(const std::string& namespaces) {
  return loadText(object("gateway.networking.k8s.io/v1", "Gateway", "g",
                         "spec: {gatewayClassName: c, listeners: [{name: a, protocol: HTTP, port: 80, allowedRoutes: "
                         "{namespaces: " +
                             namespaces + "}}]}\n"));
}
std::vector<std::string> problemsOfSelector(const std::string& selector) {
  return rendered(loadGatewayAllowing("{from: Selector, selector: " + selector + "}").problems);
}
bool selects(const std::string& selector, const std::map<std::string, std::string>& labels) {
  const Configuration configuration = loadGatewayAllowing("{from: Selector, selector: " + selector + "}");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<Gateway>().at(0).listeners.at(0).namespaceSelector.matches(labels);
}

TEST(LabelSelector, MatchesLikeKubernetes) {
  EXPECT_TRUE(selects("{}", {}));
  EXPECT_TRUE(selects("{matchLabels: {a: b}}", {{"a", "b"}, {"c", "d"}}));
  EXPECT_FALSE(selects("{matchLabels: {a: b}}", {{"a", "c"}}));
  EXPECT_FALSE(selects("{matchLabels: {a: b, c: d}}", {{"a", "b"}}));
  const std::string in = "{matchExpressions: [{key: a, operator: In, values: [b, c]}]}";
  EXPECT_TRUE(selects(in, {{"a", "c"}}));
  EXPECT_FALSE(selects(in, {{"a", "d"}}));
  EXPECT_FALSE(selects(in, {}));
  const std::string notIn = "{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}";
  EXPECT_FALSE(selects(notIn, {{"a", "b"}}));
  EXPECT_TRUE(selects(notIn, {{"a", "c"}}));
  EXPECT_TRUE(selects(notIn, {}));
  EXPECT_TRUE(selects("{matchExpressions: [{key: a, operator: Exists}]}", {{"a", ""}}));
  EXPECT_FALSE(selects("{matchExpressions: [{key: a, operator: Exists}]}", {}));
  EXPECT_TRUE(selects("{matchExpressions: [{key: a, operator: DoesNotExist}]}", {}));
  EXPECT_FALSE(selects("{matchExpressions: [{key: a, operator: DoesNotExist}]}", {{"a", ""}}));
  EXPECT_FALSE(selects("{matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}", {{"a", "b"}}));
}

TEST(LabelSelector, ReportsItsProblems) {
  EXPECT_THAT(problemsOfSelector("{matchExpressions: [{key: a, operator: Is}]}"),
              ElementsAre(HasSubstr("must be In, NotIn, Exists or DoesNotExist")));
  EXPECT_THAT(problemsOfSelector("{matchExpressions: [{key: a, operator: In}]}"),
              ElementsAre(HasSubstr("values: must have at least one item")));
  EXPECT_THAT(problemsOfSelector("{matchExpressions: [{key: a, operator: Exists, values: [b]}]}"),
              ElementsAre(HasSubstr("values: must be empty")));
  EXPECT_THAT(problemsOfSelector("{matchLables: {a: b}}"), ElementsAre(HasSubstr("did you mean matchLabels")));
  EXPECT_THAT(rendered(loadGatewayAllowing("{from: Selector}").problems),
              ElementsAre(EndsWith("selector: is required when from is Selector")));
  EXPECT_THAT(rendered(loadGatewayAllowing("{from: All, selector: {}}").problems), IsEmpty());
}

TEST(Namespace, HasItsNameAsALabelEvenWithoutAnObject) {
  const Configuration configuration =
      loadText("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {team: red}}\nspec: {finalizers: [x]}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  using Labels = std::map<std::string, std::string>;
  EXPECT_EQ(labelsOfNamespace(configuration.model, "a"),
            (Labels{{"kubernetes.io/metadata.name", "a"}, {"team", "red"}}));
  EXPECT_EQ(labelsOfNamespace(configuration.model, "b"), (Labels{{"kubernetes.io/metadata.name", "b"}}));
}

}  // namespace
}  // namespace sluice::config
