#include "proxy/content/name_set.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::content {
namespace {

std::uint64_t hashOf(std::string_view name) {
  NameHash hash;
  hash.add(name);
  return hash.value();
}

TEST(NameSet, DetectsARepeatedNameOfTheSameMap) {
  NameSet names;
  names.open();
  EXPECT_TRUE(names.add(hashOf("a")));
  EXPECT_TRUE(names.add(hashOf("b")));
  names.open();
  EXPECT_TRUE(names.add(hashOf("a")));
  EXPECT_FALSE(names.add(hashOf("a")));
  names.close();
  EXPECT_FALSE(names.add(hashOf("b")));
  names.close();
}

TEST(NameSet, DistinguishesManyNames) {
  NameSet names;
  names.open();
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(names.add(hashOf(std::to_string(i)))) << i;
  for (int i = 0; i < 100000; i += 997) EXPECT_FALSE(names.add(hashOf(std::to_string(i)))) << i;
}

TEST(NameSet, DistinguishesHashesThatShareNearlyAllBits) {
  NameSet names;
  names.open();
  for (int bit = 0; bit < 64; ++bit) EXPECT_TRUE(names.add(std::uint64_t{1} << bit)) << bit;
  EXPECT_TRUE(names.add(0));
  EXPECT_FALSE(names.add(std::uint64_t{1} << 63));
}

TEST(NameHash, IsTheSameForEveryCutOfAName) {
  std::string name;
  for (int size = 0; size < 40; ++size) {
    for (std::size_t cut = 0; cut <= name.size(); ++cut) {
      NameHash hash;
      hash.add(std::string_view(name).substr(0, cut));
      hash.add(std::string_view(name).substr(cut));
      EXPECT_EQ(hash.value(), hashOf(name)) << name << " cut at " << cut;
    }
    name += static_cast<char>('a' + size % 26);
  }
}

TEST(NameHash, DependsOnZeroBytesAtTheEnd) {
  EXPECT_NE(hashOf(std::string_view("a")), hashOf(std::string_view("a\0", 2)));
  EXPECT_NE(hashOf(""), hashOf(std::string_view("\0\0\0\0\0\0\0\0", 8)));
}

}  // namespace
}  // namespace sluice::content
