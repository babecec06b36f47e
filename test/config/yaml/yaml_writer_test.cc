#include "config/yaml/yaml_writer.h"

#include <gtest/gtest.h>

#include "config/yaml/yaml_reader.h"
#include "proxy/content/json.h"

namespace sluice::config {
namespace {

TEST(YamlWriter, WritesWhatReadsAsTheSame) {
  const auto value = content::parseJson(
      R"({"a": [1, 2.50, true, null, "true", "7", "", "line\nbreak: x"], "b": {}, "c": [], "d": {"e": "\u00e4"}})");
  ASSERT_TRUE(value.ok());
  const std::string text = writeYaml(*value);
  EXPECT_EQ(text,
            "a:\n  - 1\n  - 2.50\n  - true\n  - ~\n  - \"true\"\n  - \"7\"\n  - \"\"\n  - \"line\\nbreak: x\"\n"
            "b:\n  {}\nc:\n  []\nd:\n  e: \"\xc3\xa4\"\n");
  Problems problems;
  const auto documents = readYaml(text, {std::make_shared<const std::string>("a.yaml")}, problems);
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(writeYaml(documents[0].root), text);
}

}  // namespace
}  // namespace sluice::config
