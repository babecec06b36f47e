#include "config/load/kept_version.h"

#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

struct ReadSet {
  ObjectSet set;
  Configuration loaded;
  std::vector<KeptVersion> kept;
};

class KeptVersionTest : public testing::Test {
 protected:
  ReadSet read(const std::vector<SourceText>& texts, const ReadSet* before = nullptr) {
    ReadSet read;
    read.set = readTexts(texts, {}, base::Secret("key"), cache_);
    read.loaded = load(read.set, before == nullptr ? nullptr : &before->loaded.model);
    if (before != nullptr) read.kept = keptVersions(read.loaded.model, read.set, before->set, before->kept);
    return read;
  }
  static SourceText map(const std::string& name, const std::string& rest) {
    return {name + ".yaml", object("v1", "ConfigMap", name, rest)};
  }
  static SourceText good(const std::string& name, const std::string& value = "v") {
    return map(name, "data: {k: " + value + "}\n");
  }
  static SourceText bad(const std::string& name) { return map(name, "surprise: 1\n"); }

  TextCache cache_;
};

TEST_F(KeptVersionTest, IsTheTextThatWasServedBefore) {
  const ReadSet before = read({good("a"), good("b")});
  const ReadSet after = read({good("a"), bad("b")}, &before);
  ASSERT_EQ(after.kept.size(), 1U);
  EXPECT_EQ(after.kept[0].text->text.reveal(), good("b").text);
  EXPECT_EQ(servedDigest(after.set, after.kept), before.loaded.digest);
  EXPECT_NE(after.loaded.digest, before.loaded.digest);
}

TEST_F(KeptVersionTest, OutlivesFurtherWrongVersionsAndChangesOfOthers) {
  const ReadSet before = read({good("a"), good("b")});
  const ReadSet wrong = read({good("a"), bad("b")}, &before);
  const ReadSet worse = read({good("a", "new"), map("b", "surprise: 2\n")}, &wrong);
  ASSERT_EQ(worse.kept.size(), 1U);
  EXPECT_EQ(servedDigest(worse.set, worse.kept), read({good("a", "new"), good("b")}).loaded.digest);
  EXPECT_TRUE(read({good("a"), good("b")}, &worse).kept.empty());
  EXPECT_TRUE(read({good("a")}, &worse).kept.empty()) << "a deleted object does not come back";
}

TEST_F(KeptVersionTest, IsNoneOfAnObjectThatNeverWasGood) {
  const ReadSet before = read({good("a")});
  const ReadSet after = read({good("a"), bad("b")}, &before);
  EXPECT_TRUE(after.kept.empty());
  EXPECT_EQ(servedDigest(after.set, after.kept), after.loaded.digest);
}

}  // namespace
}  // namespace sluice::config
