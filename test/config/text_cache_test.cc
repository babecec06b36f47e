#include "config/load/text_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TextCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const TextReading> read(const std::string& file, const std::string& text) {
    return readText({file, text}, {Severity::kError, key_}, cache_).reading;
  }
  static std::string map(const std::string& name, const std::string& value) {
    return object("v1", "ConfigMap", name, "data: {k: " + value + "}\n");
  }

  const base::Secret key_{"key"};
  TextCache cache_;
};

TEST_F(TextCacheTest, DoesNotReadAnEqualTextAgain) {
  const auto first = read("a.yaml", map("a", "v"));
  cache_.sweep();
  EXPECT_EQ(read("a.yaml", map("a", "v")), first);
  EXPECT_NE(read("b.yaml", map("a", "v")), first) << "positions name the file";
}

TEST_F(TextCacheTest, ReadsATextThatChanged) {
  const auto first = read("a.yaml", map("a", "v"));
  const auto second = read("a.yaml", map("a", "w"));
  EXPECT_NE(second->objects.at(0).object, first->objects.at(0).object);
  EXPECT_NE(second->objects.at(0).revision->digest, first->objects.at(0).revision->digest);
}

TEST_F(TextCacheTest, DropsTextsThatTheLastConfigurationDidNotHave) {
  const auto first = read("a.yaml", map("a", "v"));
  cache_.sweep();
  cache_.sweep();
  EXPECT_NE(read("a.yaml", map("a", "v")), first);
}

TEST_F(TextCacheTest, KeepsTheProblemsOfAText) {
  for (int round = 0; round < 2; ++round) {
    const auto broken = read("a.yaml", map("a", "v") + "---\na: [\n");
    EXPECT_THAT(broken->objects, IsEmpty()) << "the document before the fault is not served either";
    EXPECT_EQ(broken->unreadable.size(), 1u);
    const auto refused = read("b.yaml", object("v1", "ConfigMap", "b", "daat: {}\n"));
    EXPECT_EQ(refused->objects.at(0).object, nullptr);
    EXPECT_EQ(refused->objects.at(0).rejected->name, "b");
    EXPECT_EQ(refused->objects.at(0).problems.size(), 1u);
  }
}

TEST(Objects, AreSharedBetweenModelsIfUnchanged) {
  const std::string path = testing::TempDir() + "sluice-objects-test-" + std::to_string(getpid());
  const std::vector<std::string> paths = {path + "-a.yaml", path + "-b.yaml"};
  TextCache cache;
  const auto loadWith = [&](const std::string& value) {
    std::ofstream(paths[0]) << object("v1", "ConfigMap", "a", "data: {k: v}\n");
    std::ofstream(paths[1]) << object("v1", "ConfigMap", "b", "data: {k: " + value + "}\n");
    return load(readPaths(paths, base::Secret(), cache), nullptr);
  };
  const Configuration before = loadWith("v");
  const Configuration after = loadWith("w");
  for (const std::string& each : paths) std::filesystem::remove(each);
  EXPECT_EQ(after.model.find<ConfigMap>("default", "a"), before.model.find<ConfigMap>("default", "a"));
  EXPECT_NE(after.model.find<ConfigMap>("default", "b"), before.model.find<ConfigMap>("default", "b"));
  EXPECT_EQ(*after.model.find<ConfigMap>("default", "b")->find("k"), "w");
  EXPECT_NE(after.revision, before.revision);
}

TEST(Objects, KeepTheirOrderAndAreFoundByName) {
  const Configuration configuration =
      loadText(object("v1", "ConfigMap", "b", "") + "---\n" + object("v1", "ConfigMap", "a", ""));
  std::vector<std::string> names;
  for (const ConfigMap& each : configuration.model.all<ConfigMap>()) names.push_back(each.meta.name);
  EXPECT_THAT(names, ElementsAre("b", "a"));
  EXPECT_EQ(configuration.model.all<ConfigMap>().find("default", "a"), &configuration.model.all<ConfigMap>()[1]);
  EXPECT_EQ(configuration.model.all<ConfigMap>().find("other", "a"), nullptr);
}

}  // namespace
}  // namespace sluice::config
