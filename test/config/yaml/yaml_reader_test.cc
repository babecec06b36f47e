#include "config/yaml/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/yaml/yaml_scalar.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;

struct DocumentsReading {
  std::vector<Document> documents;
  std::vector<std::string> problems;
};

DocumentsReading readDocuments(std::string_view text, const YamlLimits& limits = {}) {
  Problems problems;
  const YamlOrigin origin{std::make_shared<const std::string>("a.yaml")};
  DocumentsReading reading;
  reading.documents = readYaml(text, origin, problems, limits);
  reading.problems = rendered(problems);
  return reading;
}

TEST(YamlReader, KeepsOrderAndPositionsOfEveryNode) {
  const DocumentsReading reading = readDocuments("b: 1\na:\n  - x\n  - {k: v}\n");
  ASSERT_EQ(reading.documents.size(), 1u);
  const Value& root = reading.documents[0].root;
  ASSERT_EQ(root.members.size(), 2u);
  EXPECT_EQ(root.members[0].key, "b");
  EXPECT_EQ(root.members[1].key, "a");
  const Value& list = root.members[1].value;
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[0].position.line, 3u);
  EXPECT_EQ(list.items[0].position.column, 5u);
  EXPECT_EQ(list.items[1].find("k")->position.line, 4u);
  EXPECT_EQ(list.items[1].find("k")->position.column, 9u);
  EXPECT_EQ(list.items[1].position.fileName(), "a.yaml");
}

TEST(YamlReader, SplitsDocumentsAndKeepsEmptyOnesAsNull) {
  const DocumentsReading reading = readDocuments("a: 1\n---\n---\nb: 2\n...\n---\n# nothing\n");
  ASSERT_EQ(reading.documents.size(), 4u);
  EXPECT_TRUE(reading.documents[1].root.isNull());
  EXPECT_NE(reading.documents[2].root.find("b"), nullptr);
  EXPECT_TRUE(reading.documents[3].root.isNull());
}

TEST(YamlReader, ReadsNoDocumentsFromAnEmptyText) {
  EXPECT_THAT(readDocuments("").problems, ElementsAre());
  EXPECT_THAT(readDocuments("# a comment\n").problems, ElementsAre());
}

TEST(YamlReader, ResolvesPlainScalarsAndLeavesQuotedOnesAlone) {
  const DocumentsReading reading = readDocuments(
      "[true, False, 80, -1.5, ~, null, '', 'true', \"80\", yes, off, 2024-01-01, 1.1.1.1, 0x1F, 64Ki, !!str 80]");
  ASSERT_EQ(reading.documents.size(), 1u);
  std::vector<Value::Kind> kinds;
  for (const Value& item : reading.documents[0].root.items) kinds.push_back(item.kind);
  using K = Value::Kind;
  EXPECT_THAT(kinds, ElementsAre(K::kBool, K::kBool, K::kNumber, K::kNumber, K::kNull, K::kNull, K::kString, K::kString,
                                 K::kString, K::kString, K::kString, K::kString, K::kString, K::kNumber, K::kString,
                                 K::kString));
  EXPECT_EQ(reading.documents[0].root.items[1].text, "false");
}

TEST(YamlReader, AcceptsByteOrderMarkAndCarriageReturns) {
  const DocumentsReading reading = readDocuments(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: |\r\n  x\r\n  y\r\n");
  EXPECT_THAT(reading.problems, ElementsAre());
  ASSERT_EQ(reading.documents.size(), 1u);
  EXPECT_EQ(reading.documents[0].root.find("a")->text, "1");
  EXPECT_EQ(reading.documents[0].root.find("b")->blockColumn, 3u);
}

TEST(YamlReader, ReadsJson) {
  const DocumentsReading reading = readDocuments("{\n\t\"a\": [1, \"x\\u0041\"],\n\t\"b\": null\n}\n");
  EXPECT_THAT(reading.problems, ElementsAre());
  ASSERT_EQ(reading.documents.size(), 1u);
  EXPECT_EQ(reading.documents[0].root.find("a")->items[1].text, "xA");
}

TEST(YamlReader, RefusesTabsAsIndentation) {
  const DocumentsReading reading = readDocuments("a:\n\tb: 1\n");
  ASSERT_EQ(reading.problems.size(), 1u);
  EXPECT_TRUE(reading.documents.empty());
  EXPECT_THAT(reading.problems[0], ::testing::StartsWith("a.yaml:2:"));
}

TEST(YamlReader, ReportsThePositionOfASyntaxError) {
  EXPECT_THAT(readDocuments("a: [1, 2\nb: 3\n").problems, ElementsAre(::testing::StartsWith("a.yaml:2:")));
}

TEST(YamlReader, RefusesACommaAtTheBeginningOfADocument) {
  EXPECT_THAT(readDocuments(",").problems, ElementsAre("a.yaml:1:1: error: not YAML: a comma in no collection"));
  EXPECT_THAT(readDocuments(",a: 1\n").problems, ElementsAre("a.yaml:1:1: error: not YAML: a comma in no collection"));
  EXPECT_THAT(readDocuments("a: 1\n---\n---\n,").problems,
              ElementsAre("a.yaml:4:1: error: not YAML: a comma in no collection"));
}

TEST(YamlReader, RefusesAQuoteThatIsNeverClosed) {
  for (const std::string_view text : {"a: 'x\n", "a: 'it''s\n", "a: \"x\n", "a: \"x\\\"\n", "a: 'x"}) {
    EXPECT_EQ(readDocuments(text).problems.size(), 1u) << text;
  }
  EXPECT_THAT(readDocuments("a: 'it''s'\nb: \"x\\\"y\\\\\"\n'c' : \"d\n  e\"\n").problems, ElementsAre());
}

TEST(YamlReader, RefusesAKeyWithoutAColon) {
  EXPECT_THAT(readDocuments("a: 1\nhostnames\n").problems, ElementsAre("a.yaml:2:1: error: a key without a colon"));
  EXPECT_THAT(readDocuments("{a:1}").problems, ElementsAre("a.yaml:1:2: error: a key without a colon"));
  EXPECT_THAT(readDocuments("? a\n: b\n'c': {\"d\":1, e: , f:\n g}\nh\xC3\xA9: 1\ni:\n").problems, ElementsAre());
}

TEST(YamlReader, RefusesDuplicateKeys) {
  EXPECT_THAT(readDocuments("a: 1\nb: 2\na: 3\n").problems, ElementsAre("a.yaml:3:1: error: duplicate key \"a\""));
  EXPECT_THAT(readDocuments("x: {a: 1}\ny: {a: 1}\n").problems, ElementsAre());
}

TEST(YamlReader, RefusesKeysThatAreNotStrings) {
  EXPECT_THAT(readDocuments("[a]: 1\n").problems, ElementsAre(::testing::HasSubstr("a key must be a string")));
  EXPECT_THAT(readDocuments("~: 1\n").problems, ElementsAre(::testing::HasSubstr("a key must be a string")));
}

TEST(YamlReader, RefusesAnchors) {
  EXPECT_THAT(readDocuments("a: &x [1]\nb: *x\n").problems,
              ElementsAre("a.yaml:1:4: error: anchors are not supported: write the value out"));
}

TEST(YamlReader, RefusesTags) {
  EXPECT_THAT(readDocuments("a: !!binary eA==\n").problems,
              ElementsAre(::testing::HasSubstr("tags are not supported")));
  EXPECT_THAT(readDocuments("a: !mine {}\n").problems, ElementsAre(::testing::HasSubstr("tags are not supported")));
}

TEST(YamlReader, RefusesControlCharactersAndBrokenUtf8) {
  EXPECT_THAT(readDocuments(std::string_view("a: 1\nb: \x04\nc: 2\n")).problems,
              ElementsAre("a.yaml:2:4: error: a byte that is neither printable nor UTF-8"));
  EXPECT_THAT(readDocuments("a: \xC0\xAF\n").problems,
              ElementsAre(::testing::HasSubstr("neither printable nor UTF-8")));
  EXPECT_THAT(readDocuments("a: \xED\xA0\x80\n").problems,
              ElementsAre(::testing::HasSubstr("neither printable nor UTF-8")));
  EXPECT_THAT(readDocuments("a: h\xC3\xA9llo\n").problems, ElementsAre());
}

TEST(YamlReader, BoundsDepth) {
  YamlLimits limits;
  limits.depth = 3;
  EXPECT_THAT(readDocuments("[[[1]]]", limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments("[[[[1]]]]", limits).problems,
              ElementsAre(::testing::HasSubstr("nested deeper than 3 levels")));
  const std::string deep(100000, '[');
  EXPECT_EQ(readDocuments(deep).problems.size(), 1u);
}

// The parser passes on nothing before the outermost bracket closes, so these texts are refused while they are read.
TEST(YamlReader, ReadsOnlyTheBeginningOfATextOfBrackets) {
  constexpr std::size_t kBytes = 60'000;
  YamlLimits limits;
  limits.tokens = 6000;
  const YamlOrigin origin{std::make_shared<const std::string>("a.yaml")};
  for (const std::string part :
       {"[",   "{",   "[[],", "[{},", "{a: ", "[a,", "a,",  "\"a\",", "\"\"", "''",   "\"\" ", ": ",   "? ",
        "&a ", "*a ", "!a ",  "[a: ", "- ",   "[\n", "{\n", "[a,\n",  "- [",  "a: [", "&a,",   "[],\n"}) {
    for (const std::string first :
         {"", "[", "{", "[],\"\n--- [", "[a\"b, ", "{a:\"b, ", "[\"a\" \"b\"c\", ", "[# \"\n", "{}\n[\"\", "}) {
      std::string text = first;
      while (text.size() < kBytes) text += part;
      Problems problems;
      EXPECT_TRUE(readYaml(text, origin, problems, limits).empty()) << first << part;
      ASSERT_EQ(problems.size(), 1U) << first << part;
      const Position& at = problems[0].position;
      EXPECT_LT(at.line * part.size() + at.column, 40'000U) << first << part << ": " << problems[0].message;
    }
  }
}

TEST(YamlReader, BoundsTheTokensOfOneValue) {
  YamlLimits limits;
  limits.tokens = 14;
  EXPECT_THAT(readDocuments("{a: b, c: {d: 1}}", limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments("x: 1\ny:\n  {a: b, c: {d: [1]}}", limits).problems,
              ElementsAre("a.yaml:3:17: error: a value of too many tokens"));
}

// The limits of tokens and values are in the default proportion.
TEST(YamlReader, ReadsACollectionOfAsManyValuesAsATextMayHave) {
  YamlLimits limits;
  limits.nodes = 1000;
  limits.tokens = 3200;
  const auto listOf = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::string("\"x\"");
    return "[" + text + "]";
  };
  const auto mapOf = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",\n") + ("\"k" + std::to_string(i)) + "\": \"v\"";
    return "{" + text + "}";
  };
  EXPECT_THAT(readDocuments(listOf(790), limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments(mapOf(499), limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments("[" + listOf(198) + ", " + mapOf(399) + "]", limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments(listOf(1000), limits).problems, ::testing::SizeIs(1));
}

TEST(YamlReader, ReadsTheLargestValueOfAnObjectWhateverIsInIt) {
  for (const char c : {'[', '{', ',', ':', '?'}) {
    const std::string value(std::size_t{1024} * 1024, c);
    EXPECT_THAT(readDocuments("a: |\n  x" + value + "\nb: 'x" + value + "'\nc: \"" + value + "\"\n").problems,
                ElementsAre())
        << c;
  }
}

TEST(YamlReader, CountsNothingWithinTheStringsOfAJsonText) {
  YamlLimits limits;
  limits.tokens = 40;
  const std::string inner = std::string(200, '[') + R"(\",\"a\": {\\)" + std::string(200, ',');
  const DocumentsReading reading = readDocuments(
      "\n{\"a\" : [\"" + inner + "\", -1.5E+3, true],\n\t\"b\": {\"c\": \"" + inner + "\"}, \"d\": null}\n", limits);
  EXPECT_THAT(reading.problems, ElementsAre());
  ASSERT_EQ(reading.documents.size(), 1U);
  EXPECT_EQ(reading.documents[0].root.find("a")->items[0].text.size(), 409U);
  EXPECT_EQ(readDocuments("{\"a\" : [\"" + inner + "\", x'y'],\n\"b\": \"" + inner + "\"}", limits).problems.size(), 1U)
      << "it is no JSON from the apostrophe on";
}

TEST(YamlReader, BoundsNodes) {
  YamlLimits limits;
  limits.nodes = 4;
  EXPECT_THAT(readDocuments("[1, 2, 3]", limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments("[1, 2, 3, 4]", limits).problems, ElementsAre(::testing::HasSubstr("more than 4 values")));
}

TEST(YamlReader, BoundsText) {
  YamlLimits limits;
  limits.textBytes = 4;
  EXPECT_THAT(readDocuments("a: 1", limits).problems, ElementsAre());
  EXPECT_THAT(readDocuments("a: 12", limits).problems, ElementsAre("a.yaml: error: larger than 4 bytes"));
}

TEST(YamlScalar, RecognizesNumbersByTheirForm) {
  for (const std::string_view number : {"0", "42", "+1", "-7", "1.5", ".5", "1.", "1e3", "1.5E-3", "0o17", "0xff"}) {
    EXPECT_EQ(plainScalarKind(number), Value::Kind::kNumber) << number;
  }
  for (const std::string_view text :
       {"", "-", ".", "1_000", "1e", "0x", "0o8", "1.2.3", "1:30", "64Ki", ".inf", "tRue"}) {
    EXPECT_EQ(plainScalarKind(text), Value::Kind::kString) << text;
  }
}

}  // namespace
}  // namespace sluice::config
