#include "test/architecture/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {
namespace {

using testing::ElementsAre;

TEST(ArchitectureTree, FindsTheFilesOfTheTree) {
  EXPECT_NE(findSource("test/architecture/tree.cc"), nullptr);
  EXPECT_NE(findSource("proxy/net/worker.h"), nullptr);
  EXPECT_EQ(findSource("proxy/net/no_such_file.h"), nullptr);
}

TEST(ArchitectureTree, ReadsIncludesOfBothForms) {
  EXPECT_THAT(includesOf("#include <vector>\n#include \"proxy/net/tcp.h\"\n// #include <not>\n"),
              ElementsAre("vector", "proxy/net/tcp.h"));
}

TEST(ArchitectureTree, BlanksCommentsAndLiteralsButKeepsLines) {
  EXPECT_EQ(codeOnly("a // b\nc"), "a     \nc");
  EXPECT_EQ(codeOnly("a /* b\n c */ d"), "a     \n      d");
  EXPECT_EQ(codeOnly("f(\"a\\\"b\", 'c')"), "f(      ,    )");
  EXPECT_EQ(codeOnly("R\"(new)\" 1'000 x"), "         1'000 x");
}

std::vector<std::string> rendered(std::string_view text) {
  std::vector<std::string> comments;
  for (const Comment& comment : commentsOf(text)) comments.push_back(std::to_string(comment.line) + ":" + comment.text);
  return comments;
}

TEST(ArchitectureTree, JoinsTheLinesOfACommentAndSkipsLiterals) {
  EXPECT_THAT(rendered("// One\n// comment.\n\n/// Another.\nint a;\n"), ElementsAre("1:One comment.", "4:Another."));
  EXPECT_THAT(rendered("int a;  // of two\n        // lines\nint b;  ///< one\n"),
              ElementsAre("1:of two lines", "3:one"));
  EXPECT_THAT(rendered("int a;  // one\nint b;  // two\n  // three"), ElementsAre("1:one", "2:two", "3:three"));
  EXPECT_THAT(rendered("f(\"http://a\", '/');  // b\nR\"(\n// no\n)\" // c"), ElementsAre("1:b", "4:c"));
  EXPECT_THAT(rendered("// One\n//\n// paragraph."), ElementsAre("1:One paragraph."));
  EXPECT_THAT(rendered(""), ElementsAre());
}

}  // namespace
}  // namespace sluice::test
