#include "proxy/processing/query_edit.h"

#include <gtest/gtest.h>

namespace sluice::processing {
namespace {

class QueryEdit : public ::testing::Test {
 protected:
  std::string replaced(std::string_view target, std::string_view name = "key", std::string_view parameter = "key=own") {
    base::Arena arena(pool_);
    return std::string(replaceParameter(arena, target, name, parameter));
  }
  base::ChunkPool pool_;
};

TEST_F(QueryEdit, AddsTheParameterBehindTheRest) {
  EXPECT_EQ(replaced("/a"), "/a?key=own");
  EXPECT_EQ(replaced("/a?"), "/a?key=own");
  EXPECT_EQ(replaced("/a?b=1&c"), "/a?b=1&c&key=own");
}

TEST_F(QueryEdit, KeepsTheRestAsItWasWritten) {
  EXPECT_EQ(replaced("/a?b=%41+%zz&&c==;d?e&"), "/a?b=%41+%zz&&c==;d?e&key=own");
  EXPECT_EQ(replaced("/a?mykey=1&key2=2&ke=3&k%2=4"), "/a?mykey=1&key2=2&ke=3&k%2=4&key=own");
}

TEST_F(QueryEdit, RemovesEveryOccurrenceWhereverItStands) {
  EXPECT_EQ(replaced("/a?key=1"), "/a?key=own");
  EXPECT_EQ(replaced("/a?key=1&b=2&key=3&c=4&key"), "/a?b=2&c=4&key=own");
  EXPECT_EQ(replaced("/a?b=2;key=3;c=4"), "/a?b=2;c=4&key=own");
  EXPECT_EQ(replaced("/a?key=1?key=2"), "/a?key=own");
}

TEST_F(QueryEdit, RemovesParametersThatSomeServerWouldTakeForIt) {
  for (const char* twin : {"KEY=1", "%6bey=1", "%6Bey", "k%65%79=1", "key[]=1", "key%5B0%5D=1", "key%00x=1"}) {
    EXPECT_EQ(replaced("/?" + std::string(twin) + "&b=1"), "/?b=1&key=own") << twin;
  }
  EXPECT_EQ(replaced("/?a+b=1&a%20b=2&a%2Bb=3", "a b", "a%20b=own"), "/?a%2Bb=3&a%20b=own");
}

TEST_F(QueryEdit, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(encodeQuery("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(encodeQuery("a&b=c d+#%\xC3\xA4"), "a%26b%3Dc%20d%2B%23%25%C3%A4");
}

TEST_F(QueryEdit, OnlyRemovesIfNoParameterIsGiven) {
  EXPECT_EQ(replaced("/a?key=1&b=2", "key", ""), "/a?b=2");
  EXPECT_EQ(replaced("/a?key=1", "key", ""), "/a");
  EXPECT_EQ(replaced("/a?", "key", ""), "/a");
  EXPECT_EQ(replaced("/a", "key", ""), "/a");
}

}  // namespace
}  // namespace sluice::processing
