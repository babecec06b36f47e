#include "test/architecture/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/architecture/ctags.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ArchitectureTags, AreReadFromTheLinesOfCtags) {
  const auto found = parseTags(
      "!_TAG_PROGRAM_NAME\tUniversal Ctags\n"
      "run\tproxy/net/worker.h\t49;\"\tkind:prototype\tline:49\tscope:class:sluice::net::Worker\tend:49\n"
      "main\tmain.cc\t3;\"\tkind:function\tline:3\tend:9\n");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "run");
  EXPECT_EQ(found[0].kind, "prototype");
  EXPECT_EQ(found[0].file, "proxy/net/worker.h");
  EXPECT_EQ(found[0].scope, "class:sluice::net::Worker");
  EXPECT_EQ(found[1].scope, "");
  EXPECT_EQ(found[1].line, 3u);
  EXPECT_EQ(found[1].end, 9u);
  EXPECT_THAT(parseTags(""), IsEmpty());
}

TEST(ArchitectureClasses, CountMemberFunctionsBetweenTheirBraces) {
  const auto classes = classesOf({
      {"Pool", "class", "pool.h", "namespace:a", 10, 20},
      {"Pool", "prototype", "pool.h", "class:a::Pool", 11, 11},
      {"size", "function", "pool.h", "class:a::Pool", 12, 12},
      {"size", "prototype", "pool.h", "namespace:a", 22, 22},
      {"take", "function", "pool.cc", "class:a::Pool", 15, 18},
      {"wipe", "function", "pool.h", "class:a::Pool", 24, 26},
  });
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_EQ(classes[0].qualified, "a::Pool");
  EXPECT_EQ(classes[0].line, 10u);
  EXPECT_EQ(classes[0].memberFunctions, 2u);
  EXPECT_THAT(classes[0].memberFiles, ElementsAre("pool.cc", "pool.h"));
}

TEST(ArchitectureClasses, KeepNestedOnesApartAndLeaveOutNamelessOnes) {
  const auto classes = classesOf({
      {"Pool", "class", "pool.h", "namespace:a", 10, 20},
      {"Slot", "struct", "pool.h", "class:a::Pool", 12, 14},
      {"free", "function", "pool.h", "struct:a::Pool::Slot", 13, 13},
      {"__anon0", "struct", "pool.h", "class:a::Pool", 16, 17},
      {"main", "class", "main.cc", "", 1, 2},
  });
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_EQ(classes[0].memberFunctions, 0u);
  EXPECT_THAT(classes[0].memberFiles, IsEmpty());
  EXPECT_EQ(classes[1].qualified, "a::Pool::Slot");
  EXPECT_EQ(classes[1].memberFunctions, 1u);
  EXPECT_EQ(classes[2].qualified, "main");
}

TEST(ArchitectureClasses, AreNamedBehindTheirKeyword) {
  EXPECT_TRUE(namesClass("class Pool final : public Owner {", "Pool"));
  EXPECT_TRUE(namesClass("template <typename T> struct Pool {", "Pool"));
  EXPECT_TRUE(namesClass("struct Pool::Slot {", "Slot"));
  EXPECT_TRUE(namesClass("struct alignas(64) Slot {", "Slot"));
  EXPECT_FALSE(namesClass("template <> struct hash<Pool> {", "hash"));
  EXPECT_FALSE(namesClass("  struct stat facts {};", "facts"));
  EXPECT_FALSE(namesClass("", "Pool"));
}

}  // namespace
}  // namespace sluice::test
