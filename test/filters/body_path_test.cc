#include "filters/body_path.h"

#include <gtest/gtest.h>

namespace sluice::filters {
namespace {

constexpr std::string_view kDocument =
    R"({"model": "m", "a": [{"b": 1}, {"b": 2}], "": 0, "x/y": 3, "x~y": 4, "0": 5, "it's": 6, "a b": 7})";

/// Returns the value that the path finds, "none", or the error of the path.
std::string found(const base::Result<BodyPath>& path) {
  if (!path) return path.error().detail;
  content::JsonScan scan(path->steps(), 256);
  EXPECT_TRUE(scan.feed(kDocument) && scan.end());
  return scan.found() != nullptr ? scan.found()->text : "none";
}
std::string pointed(std::string_view text) { return found(BodyPath::fromPointer(text)); }
std::string queried(std::string_view text) { return found(BodyPath::fromJsonPath(text)); }

TEST(BodyPath, FollowsAPointer) {
  EXPECT_EQ(pointed("/model"), "m");
  EXPECT_EQ(pointed("/a/1/b"), "2");
  EXPECT_EQ(pointed("/"), "0");
  EXPECT_EQ(pointed("/x~1y"), "3");
  EXPECT_EQ(pointed("/x~0y"), "4");
  EXPECT_EQ(pointed("/0"), "5");
}

TEST(BodyPath, FindsNothingForAMissingValue) {
  for (const char* pointer : {"/none", "/a/2", "/a/-", "/a/-1", "/a/01", "/a/b", "/model/0", "/a/99999999999"}) {
    EXPECT_EQ(pointed(pointer), "none") << pointer;
  }
  for (const char* query : {"$.none", "$.a[2]", "$.a[-3]", "$.a.b", "$.model[0]", "$[0]", "$.a['0']"}) {
    EXPECT_EQ(queried(query), "none") << query;
  }
}

TEST(BodyPath, FollowsAQueryForOneValue) {
  EXPECT_EQ(queried("$.model"), "m");
  EXPECT_EQ(queried("$['model']"), "m");
  EXPECT_EQ(queried("$[\"a b\"]"), "7");
  EXPECT_EQ(queried("$['it\\'s']"), "6");
  EXPECT_EQ(queried("$.a[0].b"), "1");
  EXPECT_EQ(queried("$.a[-1]['b']"), "2");
}

TEST(BodyPath, RefusesInvalidPaths) {
  EXPECT_EQ(pointed("model"), "at character 1: a JSON Pointer begins with \"/\"");
  EXPECT_EQ(pointed("/a/~2"), "at character 3: \"~\" stands before 0 or 1");
  EXPECT_EQ(pointed("/~"), "at character 1: \"~\" stands before 0 or 1");
  EXPECT_EQ(queried(".model"), "at character 1: a JSONPath begins with \"$\"");
  EXPECT_EQ(queried(""), "at character 1: a JSONPath begins with \"$\"");
  EXPECT_EQ(queried("$model"), "at character 2: neither \".\" nor \"[\"");
  EXPECT_EQ(queried("$.a[0"), "at character 4: \"]\" is missing");
  for (const char* query : {"$..a", "$.*", "$.", "$.1a"}) {
    EXPECT_EQ(queried(query), "at character 2: no name follows; one value can be asked for, by names and indices");
  }
  for (const char* query : {"$[*]", "$[0:1]", "$[?@.a]", "$[-0]", "$[01]", "$['a", "$['a\\", "$[]", "$['a\\n']"}) {
    EXPECT_EQ(queried(query), "at character 2: neither a quoted name nor an index") << query;
  }
}

TEST(BodyPath, CountsFromTheEndUpToItsBound) {
  EXPECT_EQ(queried("$.a[-64]"), "none");
  EXPECT_EQ(queried("$.a[-65]"), "at character 4: counts too far from the end");
}

TEST(BodyPath, IsBounded) {
  std::string deepest;
  for (std::size_t i = 0; i < BodyPath::kMostSteps; ++i) deepest += ".a";
  EXPECT_EQ(queried("$" + deepest), "none");
  EXPECT_EQ(queried("$" + deepest + ".a"), "at character 66: is too deep");
}

}  // namespace
}  // namespace sluice::filters
