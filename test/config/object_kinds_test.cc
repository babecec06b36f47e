// Tests the table of kinds: its lines are consistent, and all code uses it.
#include "config/read/object_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <typeindex>
#include <utility>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

std::string apiVersionOf(const ObjectKind& kind) {
  return (kind.group.empty() ? "" : std::string(kind.group) + "/") + std::string(kind.versions.front());
}

TEST(ObjectKinds, AreUnique) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const ObjectKind& each : objectKinds()) {
    EXPECT_TRUE(names.emplace(each.group, each.kind).second) << each.kind;
    EXPECT_EQ(findObjectKind(each.group, each.kind), &each);
    EXPECT_FALSE(isUnsupportedKind(each.group, each.kind)) << each.kind;
    EXPECT_FALSE(isUnconcernedKind(each.group, each.kind)) << each.kind;
    EXPECT_FALSE(each.versions.empty());
  }
}

TEST(ObjectKinds, WithOneNameHaveOneType) {
  for (const ObjectKind& each : objectKinds()) {
    for (const ObjectKind& other : objectKinds()) {
      EXPECT_TRUE(each.kind != other.kind || *each.type == *other.type) << each.kind;
    }
  }
}

template <OfSeveralKinds... Objects>
std::set<std::type_index> typesOfSeveralKinds() {
  return {typeid(Objects)...};
}

TEST(ObjectKinds, ShareATypeOnlyIfItIsMarkedForSeveralKinds) {
  std::set<std::type_index> types;
  std::set<std::type_index> shared;
  for (const ObjectKind& each : objectKinds()) {
    if (!types.insert(*each.type).second) shared.insert(*each.type);
  }
  EXPECT_EQ(shared,
            (typesOfSeveralKinds<Backend, Gateway, PayloadProcessor, PayloadProcessingPipeline, TrafficPolicy>()));
}

TEST(ObjectKinds, HaveAReaderWhoseRefusedObjectsAreFoundByName) {
  for (const ObjectKind& each : objectKinds()) {
    const Configuration refused = loadText(object(apiVersionOf(each), std::string(each.kind), "o", "surprise: 1\n"));
    const std::string_view nameSpace = each.namespaced ? "default" : "";
    const Rejected* found = refused.model.findRejected(each.group, each.kind, nameSpace, "o");
    ASSERT_NE(found, nullptr) << each.kind;
    Model model;
    EXPECT_FALSE(each.keep(*found, Model(), model)) << each.kind << ": there was none before";
  }
}

TEST(Rejected, IsLegibleInItsOwnTypeAlone) {
  Rejected rejected;
  EXPECT_EQ(rejected.legible<Gateway>(), nullptr);
  rejected.remains = std::make_shared<const Gateway>();
  EXPECT_NE(rejected.legible<Gateway>(), nullptr);
  EXPECT_EQ(rejected.legible<HttpRoute>(), nullptr);
}

/// A type of policy that no member, finder or reader of the configuration knows.
struct Policy {
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
};

TEST(Model, HoldsObjectsOfAnyType) {
  Model model;
  EXPECT_TRUE(model.all<Policy>().empty());
  EXPECT_EQ(model.find<Policy>("a.test", "Policy", "n", "p"), nullptr);
  for (const char* group : {"a.test", "b.test"}) {
    auto policy = std::make_shared<Policy>();
    policy->meta.group = group;
    policy->meta.kind = "Policy";
    policy->meta.nameSpace = "n";
    policy->meta.name = "p";
    model.add<Policy>(std::move(policy));
  }
  EXPECT_EQ(model.all<Policy>().size(), 2U);
  EXPECT_TRUE(model.all<Gateway>().empty());
  EXPECT_EQ(model.find<Policy>("b.test", "Policy", "n", "p"), &model.all<Policy>()[1]);
  EXPECT_EQ(model.find<Policy>("c.test", "Policy", "n", "p"), nullptr);
  const Model copy = model;
  EXPECT_EQ(&copy.all<Policy>()[0], &model.all<Policy>()[0]) << "objects are shared";
}

}  // namespace
}  // namespace sluice::config
