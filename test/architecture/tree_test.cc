#include "test/architecture/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::test
