// Tests the rows of readers that are tables.
#include "config/fields/field_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/yaml_reader.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct RowPart {
  std::uint32_t weight = 7;
  std::string path;
  Position position;
};

/// A model with a member for each kind of row.
struct RowModel {
  bool flag = true;
  std::optional<bool> maybe;
  std::uint16_t number = 5;
  std::optional<std::uint32_t> count;
  base::Duration time = std::chrono::seconds(3);
  std::optional<base::Duration> most;
  std::string name = "usual";
  std::string word = "One";
  int meaning = 1;
  std::vector<std::string> names;
  std::optional<RowPart> part;
  std::vector<RowPart> parts;
  std::vector<UnsupportedField> unsupported;
};

void readRowPart(FieldReader& reader, RowPart& part) { reader.read("weight", part.weight, {1, 9}); }

void readRows(FieldReader& reader, RowModel& model) {
  constexpr std::string_view kWords[] = {"One", "Two"};
  constexpr Choice<int> kMeanings[] = {{"first", 1}, {"second", 2}};
  reader.read("flag", model.flag);
  reader.read("maybe", model.maybe);
  reader.read("number", model.number, {1, 10});
  reader.read("count", model.count, {0, 10});
  reader.read("time", model.time, kNotZero);
  reader.read("most", model.most);
  reader.read(required("name"), model.name, rule::kNamespace);
  reader.read("word", model.word, kWords);
  reader.read("meaning", model.meaning, kMeanings);
  reader.read("names", model.names, rule::kNamespace, 2);
  reader.read("part", model.part, readRowPart);
  reader.read("parts", model.parts, 2, readRowPart);
  reader.unsupported("later", "later is not supported");
}

struct RowReading {
  RowModel model;
  std::vector<std::string> problems;
  bool legible = false;
};

RowReading readRowsOf(const std::string& yaml) {
  Problems problems;
  const std::vector<Document> documents = readYaml(yaml, {}, problems);
  ObjectContext context("Rows", problems);
  RowReading reading;
  FieldReader reader(&documents.at(0).root, "spec", documents.at(0).root.position, context);
  reading.legible = reader.readInto(reading.model, readRows);
  for (const Problem& each : problems) reading.problems.push_back(each.field + ": " + each.message);
  return reading;
}

TEST(FieldRows, KeepMembersWhoseFieldsAreAbsent) {
  const RowReading reading = readRowsOf("{name: a}");
  EXPECT_THAT(reading.problems, IsEmpty());
  EXPECT_TRUE(reading.legible);
  EXPECT_TRUE(reading.model.flag);
  EXPECT_FALSE(reading.model.maybe || reading.model.count || reading.model.most || reading.model.part);
  EXPECT_EQ(reading.model.number, 5);
  EXPECT_EQ(reading.model.time, std::chrono::seconds(3));
  EXPECT_EQ(reading.model.word, "One");
  EXPECT_EQ(reading.model.meaning, 1);
}

TEST(FieldRows, StoreFieldsInTheirMembers) {
  const RowReading reading = readRowsOf(
      "{flag: false, maybe: true, number: 10, count: 0, time: 1s, most: 0s, name: a, word: Two, meaning: second, "
      "names: [a, b], part: {weight: 1}, parts: [{weight: 9}, {}], later: {}}");
  EXPECT_THAT(reading.problems, IsEmpty());
  const RowModel& model = reading.model;
  EXPECT_FALSE(model.flag);
  EXPECT_EQ(model.maybe, true);
  EXPECT_EQ(model.number, 10);
  EXPECT_EQ(model.count, 0u);
  EXPECT_EQ(model.time, std::chrono::seconds(1));
  EXPECT_EQ(model.most, base::Duration::zero());
  EXPECT_EQ(model.name, "a");
  EXPECT_EQ(model.word, "Two");
  EXPECT_EQ(model.meaning, 2);
  EXPECT_THAT(model.names, ElementsAre("a", "b"));
  ASSERT_TRUE(model.part);
  EXPECT_EQ(model.part->path, "spec.part");
  ASSERT_EQ(model.parts.size(), 2u);
  EXPECT_EQ(model.parts[0].weight, 9u);
  EXPECT_EQ(model.parts[1].weight, 7u);
  EXPECT_EQ(model.parts[1].path, "spec.parts[1]");
  EXPECT_EQ(model.parts[1].position.line, 1u);
  ASSERT_EQ(model.unsupported.size(), 1u);
  EXPECT_EQ(model.unsupported[0].path, "spec.later");
}

TEST(FieldRows, ReportWhatTheyDoNotAllow) {
  const RowReading reading = readRowsOf(
      "{flag: 1, number: 11, time: 0s, word: Three, meaning: third, names: [A], part: {weights: 1}, parts: [null]}");
  EXPECT_FALSE(reading.legible);
  EXPECT_THAT(reading.problems,
              ElementsAre("spec.flag: must be true or false, but is a number",
                          "spec.number: must be between 1 and 10, but is 11", "spec.time: must not be zero",
                          "spec.name: is required", "spec.word: must be One or Two, but is \"Three\"",
                          "spec.meaning: must be first or second, but is \"third\"",
                          "spec.names[0]: must be a DNS label in lower case, but is \"A\"",
                          "spec.part.weights: unknown field: did you mean weight?",
                          "spec.parts[0]: must be a map, but is null"));
  EXPECT_TRUE(reading.model.flag);
  EXPECT_EQ(reading.model.number, 5);
}

TEST(FieldRows, FinishOnce) {
  Problems problems;
  const std::vector<Document> documents = readYaml("{stray: 1}", {}, problems);
  ObjectContext context("Rows", problems);
  FieldReader reader(&documents.at(0).root, "", documents.at(0).root.position, context);
  reader.finish();
  reader.finish();
  EXPECT_EQ(problems.size(), 1u);
}

TEST(FieldRows, CopyWhatIsKnown) {
  Problems problems;
  const std::vector<Document> documents = readYaml("{a: 1, b: null, c: 2}", {}, problems);
  ObjectContext context("Rows", problems);
  FieldReader reader(&documents.at(0).root, "", documents.at(0).root.position, context);
  reader.ignore("a");
  reader.ignore("b");
  const Value part = reader.knownPart();
  ASSERT_EQ(part.members.size(), 1u);
  EXPECT_EQ(part.members[0].key, "a");
}

}  // namespace
}  // namespace sluice::config
