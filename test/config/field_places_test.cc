#include "config/load/field_places.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::config {
namespace {

constexpr const char* kText = R"(apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: a, labels: {"x.test/y": z}}
    data: {key: value}
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: b
    data:
      settings.yaml: text
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: n, name: b}
data: {}
)";

class PlacesOfFields : public ::testing::Test {
 protected:
  std::string at(std::string_view nameSpace, std::string_view name, std::string_view field) {
    const Position position = places_.find({"", "ConfigMap", nameSpace, name}, field);
    return std::string(position.fileName()) + ":" + std::to_string(position.line) + ":" +
           std::to_string(position.column);
  }

  TextCache cache_;
  ObjectSet set_ = readTexts({{"first.yaml", "# nothing\n"}, {"c.yaml", kText}}, {}, base::Secret("key"), cache_);
  FieldPlaces places_{set_};
};

TEST_F(PlacesOfFields, AreThoseOfTheirValues) {
  EXPECT_EQ(at("default", "a", "metadata.name"), "c.yaml:6:22");
  EXPECT_EQ(at("default", "a", "metadata.labels[\"x.test/y\"]"), "c.yaml:6:46");
  EXPECT_EQ(at("default", "b", "data[\"settings.yaml\"]"), "c.yaml:13:22");
  EXPECT_EQ(at("n", "b", "metadata.name"), "c.yaml:17:32");
}

TEST_F(PlacesOfFields, AreThoseOfTheNearestFieldAboveIfTheyAreNotWritten) {
  EXPECT_EQ(at("default", "a", "metadata.labels.missing[2].name"), "c.yaml:6:33");
  EXPECT_EQ(at("default", "a", "spec.rules[0]"), "c.yaml:4:5");
}

TEST_F(PlacesOfFields, AreTheObjectsOwnWithoutAPath) {
  EXPECT_EQ(at("default", "b", ""), "c.yaml:8:5");
  EXPECT_EQ(at("n", "b", ""), "c.yaml:15:1");
}

TEST_F(PlacesOfFields, AreUnknownForObjectsThatAreNotThere) { EXPECT_EQ(at("n", "a", "metadata.name"), ":0:0"); }

}  // namespace
}  // namespace sluice::config
