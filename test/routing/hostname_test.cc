#include "proxy/routing/table/hostname.h"

#include <gtest/gtest.h>

namespace sluice::routing {
namespace {

TEST(Hostname, MeetsItselfAndEverything) {
  EXPECT_TRUE(hostnamesIntersect("", ""));
  EXPECT_TRUE(hostnamesIntersect("", "a.test"));
  EXPECT_TRUE(hostnamesIntersect("*.test", ""));
  EXPECT_TRUE(hostnamesIntersect("a.test", "a.test"));
  EXPECT_FALSE(hostnamesIntersect("a.test", "b.test"));
}

TEST(Hostname, MeetsAWildcardByWholeLabels) {
  for (const bool swap : {false, true}) {
    const auto meets = [&](const char* a, const char* b) {
      return swap ? hostnamesIntersect(b, a) : hostnamesIntersect(a, b);
    };
    EXPECT_TRUE(meets("*.example.com", "test.example.com"));
    EXPECT_TRUE(meets("*.example.com", "foo.test.example.com"));
    EXPECT_FALSE(meets("*.example.com", "example.com"));
    EXPECT_FALSE(meets("*.example.com", "testexample.com"));
    EXPECT_FALSE(meets("*.example.com", "test.example.net"));
    EXPECT_TRUE(meets("*.example.com", "*.foo.example.com"));
    EXPECT_FALSE(meets("*.example.com", "*.fooexample.com"));
  }
}

}  // namespace
}  // namespace sluice::routing
