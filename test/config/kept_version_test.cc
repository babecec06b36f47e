#include "config/load/kept_version.h"

#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"
#include "test/support/test_pki.h"

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

TEST_F(KeptVersionTest, HasThePairOfASecretBesideItsNewestVersion) {
  const auto pair = [](const sluice::test::CertifiedKey& written) -> SourceText {
    return {"s.yaml", object("v1", "Secret", "s", "stringData:\n" + sluice::test::stringDataOf(written))};
  };
  const sluice::test::CertifiedKey first = sluice::test::selfSigned({});
  const sluice::test::CertifiedKey second = sluice::test::selfSigned({});
  const ReadSet before = read({pair(first)});
  const ReadSet half = read({pair({second.certificate, first.key})}, &before);
  ASSERT_EQ(half.kept.size(), 1U);
  EXPECT_EQ(half.kept[0].text->text.reveal(), pair(first).text);
  const std::string served = servedDigest(half.set, half.kept);
  EXPECT_NE(served, before.loaded.digest) << "all else in the Secret is new";
  EXPECT_NE(served, half.loaded.digest);

  const ReadSet again = read({pair({second.certificate, first.key})}, &half);
  EXPECT_EQ(servedDigest(again.set, again.kept), served);
  const ReadSet worse = read({pair({second.certificate, "nonsense"})}, &again);
  ASSERT_EQ(worse.kept.size(), 1U);
  EXPECT_EQ(worse.kept[0].text->text.reveal(), pair(first).text) << "and not the one that had no pair";
  EXPECT_TRUE(read({pair(second)}, &worse).kept.empty());
}

TEST_F(KeptVersionTest, IsNoneOfAnObjectThatNeverWasGood) {
  const ReadSet before = read({good("a")});
  const ReadSet after = read({good("a"), bad("b")}, &before);
  EXPECT_TRUE(after.kept.empty());
  EXPECT_EQ(servedDigest(after.set, after.kept), after.loaded.digest);
}

}  // namespace
}  // namespace sluice::config
