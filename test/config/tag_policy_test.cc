#include "config/model/tag_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

constexpr const char* kTagged = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]";

Configuration loadTags(const std::string& fields) {
  return loadText(object("sluice.dev/v1alpha1", "TagPolicy", "p", "spec: {" + std::string(kTagged) + fields + "}\n"));
}

TEST(TagPolicyReader, ReadsItsFields) {
  const Configuration configuration = loadTags(", team: blue");
  EXPECT_THAT(rendered(configuration.problems), testing::IsEmpty());
  const TagPolicy& policy = configuration.model.all<TagPolicy>().at(0);
  EXPECT_EQ(policy.team, "blue");
  EXPECT_FALSE(policy.cost);
  EXPECT_EQ(policy.targets.at(0).object.name, "egress");
}

TEST(TagPolicyReader, RefusesValuesThatNoFieldMayHave) {
  EXPECT_EQ(loadTags(", team: \"a\\nb\"").model.rejected.size(), 1u);
}

}  // namespace
}  // namespace sluice::config
