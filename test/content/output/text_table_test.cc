#include "proxy/content/output/text_table.h"

#include <gtest/gtest.h>

namespace sluice::content {
namespace {

TEST(TextTable, AlignsItsColumns) {
  TextTable table({"NAME", "VERSION"});
  table.add({"a longer name", "1"});
  table.add({"", "22"});
  EXPECT_EQ(table.text(),
            "NAME            VERSION\n"
            "a longer name   1\n"
            "                22\n");
}

TEST(TextTable, NamesFaultsBelowEachOther) {
  TextTable table({"NAME", "STATUS"});
  table.addJudged({"good"}, {});
  table.addJudged({"bad"}, {"one", "another"});
  EXPECT_EQ(table.text(),
            "NAME   STATUS\n"
            "good   ok\n"
            "bad    one\n"
            "       another\n");
}

TEST(TextTable, LeavesOutWhatIsEmpty) {
  TextTable table({}, {.indent = 2, .gap = 1});
  table.add({"", "", "a", ""});
  table.add({"", "xy", "b", "last"});
  EXPECT_EQ(table.text(),
            "     a\n"
            "  xy b last\n");
  EXPECT_EQ(TextTable({}, {.indent = 2}).text(), "");
}

}  // namespace
}  // namespace sluice::content
