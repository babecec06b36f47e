#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadGrant(const std::string& spec, const std::string& version = "v1") {
  return loadText(object("gateway.networking.k8s.io/" + version, "ReferenceGrant", "g", "spec: " + spec + "\n"));
}
std::vector<std::string> grantProblems(const std::string& spec) { return rendered(loadGrant(spec).problems); }

constexpr const char* kFrom = "from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: edge}]";
constexpr const char* kTo = "to: [{group: '', kind: Secret}]";

TEST(ReferenceGrant, IsReadInBothVersions) {
  for (const std::string version : {"v1", "v1beta1"}) {
    const Configuration configuration = loadGrant(
        "{from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: edge}], to: [{group: '', kind: "
        "Secret}, {group: '', kind: ConfigMap, name: ca}]}",
        version);
    ASSERT_THAT(rendered(configuration.problems), IsEmpty()) << version;
    const ReferenceGrant& grant = configuration.model.all<ReferenceGrant>().at(0);
    EXPECT_EQ(grant.meta.nameSpace, "default");
    EXPECT_EQ(grant.from.at(0).kind, "Gateway");
    EXPECT_EQ(grant.from.at(0).nameSpace, "edge");
    EXPECT_EQ(grant.to.at(0).group, "");
    EXPECT_EQ(grant.to.at(0).name, "");
    EXPECT_EQ(grant.to.at(1).name, "ca");
  }
}

TEST(ReferenceGrant, GrantsNothingIfItsSchemaRefusesIt) {
  EXPECT_THAT(grantProblems("{}"), ElementsAre(EndsWith("spec.from: is required"), EndsWith("spec.to: is required")));
  EXPECT_THAT(grantProblems("{from: [], " + std::string(kTo) + "}"),
              ElementsAre(EndsWith("from: must have at least one item")));
  EXPECT_THAT(grantProblems("{from: [{kind: Gateway}], " + std::string(kTo) + "}"),
              ElementsAre(EndsWith("group: is required"), EndsWith("namespace: is required")));
  EXPECT_THAT(grantProblems("{" + std::string(kFrom) + ", to: [{group: 'No_Group', kind: Secret}]}"),
              ElementsAre(EndsWith("group: must be an API group")));
  EXPECT_THAT(grantProblems("{" + std::string(kFrom) + ", to: [{group: '', kind: Secret, nam: x}]}"),
              ElementsAre(HasSubstr("did you mean name?")));
  EXPECT_TRUE(loadGrant("{" + std::string(kFrom) + ", to: [{group: ''}]}").model.all<ReferenceGrant>().empty());
}

TEST(ReferenceGrant, HasAtMostSixteenEntriesOfEach) {
  const auto entries = [](int count) {
    std::string text = "{" + std::string(kFrom) + ", to: [";
    for (int i = 0; i < count; ++i) text += "{group: '', kind: Secret}, ";
    return text + "]}";
  };
  EXPECT_THAT(grantProblems(entries(16)), IsEmpty());
  EXPECT_THAT(grantProblems(entries(17)), ElementsAre(HasSubstr("at most 16")));
}

}  // namespace
}  // namespace sluice::config
