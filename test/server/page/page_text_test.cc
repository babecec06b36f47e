// The words of the live page, its sample and its reference are the same, and a terminal shows them safely.
#include "proxy/server/page/page_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/output/output.h"
#include "proxy/server/page/page_sections.h"
#include "test/support/reference_page.h"

namespace sluice::server {
namespace {

using content::Value;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

Value sampleState() {
  std::ifstream in(SLUICE_SOURCE_DIR "/test/server/page/state.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return content::parseJson(text, {.bytes = text.size()}).value();
}

std::string textOfLines(const std::vector<PageLine>& lines) {
  std::string text;
  for (const PageLine& each : lines) text += each.text + "\n";
  return text;
}

std::vector<std::string> membersInReference(const std::string& head) {
  return test::firstWords(test::pageTable(test::referencePage("page.md"), head));
}

TEST(LivePageReference, HasEveryMemberOfTheState) {
  std::vector<std::string> members;
  for (const content::Member& each : sampleState().members) members.push_back(each.key);
  EXPECT_THAT(membersInReference("| member of the state | meaning |"), testing::UnorderedElementsAreArray(members));
}

TEST(LivePageReference, HasEveryColumnOfEverySection) {
  for (const PageSection& section : pageSections()) {
    std::vector<std::string> members;
    for (const PageColumn& each : section.columns) members.emplace_back(each.member);
    EXPECT_THAT(membersInReference("| member of `" + std::string(section.name) + "` | meaning |"),
                ElementsAreArray(members));
    EXPECT_THAT(test::referencePage("page.md"), HasSubstr("\n## " + std::string(section.title) + "\n"));
  }
}

TEST(LivePageSample, HasTheWordsOfTheProgram) {
  base::JsonWriter json;
  json.beginObject();
  writeWords(json);
  const Value words = content::parseJson(json.endObject().take()).value();
  const Value sample = sampleState();
  for (const char* member : {"head", "words"}) {
    EXPECT_EQ(content::outputJson(*sample.find(member)), content::outputJson(*words.find(member)));
  }
}

TEST(PageText, ShowsEverySectionWithItsRowsOrWhatItsAbsenceMeans) {
  const std::string all = textOfLines(pageLines(sampleState(), 200));
  EXPECT_THAT(all, HasSubstr("state Rollback   since 2026-03-01T12:00:01.000Z"));
  EXPECT_THAT(all, HasSubstr("\nWhat is wrong (5)\n"));
  EXPECT_THAT(all, HasSubstr("HTTPRoute demo/shop"));
  EXPECT_THAT(all, HasSubstr("routes.yaml:14"));
  EXPECT_THAT(all, HasSubstr("\nRoutes (5000)\n"));
  EXPECT_THAT(textOfLines(pageLines(sampleState(), 1)), HasSubstr("  and 4 more\n"));
  const Value empty = content::parseJson(R"({"head":[{"member":"state","title":"state"}],"state":"InSync",
    "words":[{"section":"wrong","title":"What is wrong","none":"Nothing is wrong.","columns":[]}],
    "sections":{"wrong":{"rows":[],"total":0}}})")
                          .value();
  EXPECT_EQ(textOfLines(pageLines(empty, 10)), "state InSync\n\nWhat is wrong\n  Nothing is wrong.\n");
}

TEST(PageText, EscapesWhatWouldMoveATerminal) {
  const Value hostile = content::parseJson(R"({"head":[{"member":"zone","title":"zone"}],"zone":"\u001b]0;x\u0007",
    "words":[{"section":"wrong","title":"W","none":"","columns":[{"member":"object","title":"object"}]}],
    "sections":{"wrong":{"rows":[{"object":"a\u001b[2J\r\n\u202eb\u009b1m"}],"total":1}}})")
                            .value();
  const std::string shown = textOfLines(pageLines(hostile, 10));
  for (const char* control : {"\x1b", "\r", "\x07", "\xe2\x80\xae", "\xc2\x9b"}) {
    EXPECT_THAT(shown, Not(HasSubstr(control)));
  }
  EXPECT_THAT(shown, HasSubstr("a\\u001b[2J\\r\\n\\u202eb\\u009b1m"));
}

TEST(PageText, IsCutAtWholeCharacters) {
  EXPECT_EQ(cutToColumns("abc", 5), "abc");
  EXPECT_EQ(cutToColumns("abc", 2), "ab");
  EXPECT_EQ(cutToColumns("\xc3\xa4\xe2\x80\xa6z", 2), "\xc3\xa4\xe2\x80\xa6");
  EXPECT_EQ(cutToColumns("", 2), "");
}

}  // namespace
}  // namespace sluice::server
