#include "config/load/last_pairs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load/load.h"
#include "test/support/test_pki.h"

namespace sluice::config {
namespace {

using sluice::test::CertifiedKey;

constexpr base::WallTime kNow{std::chrono::seconds(1'700'000'000)};

/// Returns a Secret with these entries, as lines; `metadata` are further members.
std::string opaqueText(const std::string& entries, const std::string& metadata = {}) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: s" + metadata + "}\nstringData:\n  other: \"1\"\n" + entries;
}

std::string pairText(const std::string& certificate, const std::string& key, const std::string& metadata = {}) {
  return opaqueText(sluice::test::stringDataOf({certificate, key}), metadata);
}

class LastPairs : public ::testing::Test {
 protected:
  static Model loadAfter(const std::string& text, const Model* previous, base::WallTime now = kNow) {
    TextCache cache;
    ObjectSet set = readTexts({SourceText{"a.yaml", text}}, {}, base::Secret(), cache);
    set.readAt = now;
    return load(set, previous).model;
  }
  static std::string lastIn(const Model& model) {
    const KeyPair* pair = model.findLastPair("default", "s");
    return pair == nullptr ? "" : pair->certificate->fingerprint();
  }

  const CertifiedKey first_ = sluice::test::selfSigned({});
  const CertifiedKey second_ = sluice::test::selfSigned({});
  const std::string fingerprint_ = pki::CertificateChain::parse(first_.certificate)->fingerprint();
  const std::string goodText_ = pairText(first_.certificate, first_.key);
  const std::string halfText_ = pairText(second_.certificate, first_.key);
  const Model good_ = loadAfter(goodText_, nullptr);
};

TEST_F(LastPairs, AreNoneWhileTheSecretHasAPair) {
  EXPECT_EQ(lastIn(good_), "");
  EXPECT_EQ(lastIn(loadAfter(goodText_, &good_)), "");
  EXPECT_EQ(lastIn(loadAfter(pairText(second_.certificate, second_.key), &good_)), "");
}

TEST_F(LastPairs, ServeOnForASecretWithoutAPair) {
  const std::string both = sluice::test::stringDataOf(second_);
  const std::string certificateOnly = both.substr(0, both.find('\n') + 1);
  const std::string keyOnly = both.substr(certificateOnly.size());
  for (const std::string& broken :
       {halfText_, pairText(first_.certificate, second_.key), pairText("nonsense", first_.key),
        pairText(first_.certificate, "nonsense"), pairText("", ""), opaqueText(certificateOnly), opaqueText(keyOnly),
        goodText_ + "surprise: 1\n", goodText_ + "data: {tls.crt: '!'}\n"}) {
    EXPECT_EQ(lastIn(loadAfter(broken, &good_)), fingerprint_) << broken;
    EXPECT_EQ(lastIn(loadAfter(broken, nullptr)), "") << "a start knows no earlier version";
  }
}

TEST_F(LastPairs, OutliveFurtherVersionsWithoutAPair) {
  const Model half = loadAfter(halfText_, &good_);
  const Model again = loadAfter(halfText_, &half);
  const Model worse = loadAfter(pairText("nonsense", "nonsense"), &again);
  const Model refused = loadAfter(goodText_ + "surprise: 1\n", &worse);
  EXPECT_EQ(lastIn(refused), fingerprint_);
  const Model renamed = loadAfter(pairText(second_.certificate, first_.key, ", labels: {a: b}"), &refused);
  EXPECT_EQ(lastIn(renamed), fingerprint_);
  const Model mended = loadAfter(pairText(second_.certificate, second_.key), &renamed);
  EXPECT_EQ(lastIn(mended), "");
  EXPECT_EQ(lastIn(loadAfter(pairText(first_.certificate, second_.key), &mended)),
            pki::CertificateChain::parse(second_.certificate)->fingerprint());
}

TEST_F(LastPairs, EndWithTheirSecret) {
  const Model half = loadAfter(halfText_, &good_);
  const Model deleted = loadAfter("", &half);
  EXPECT_TRUE(deleted.lastPairs.empty());
  EXPECT_EQ(lastIn(loadAfter(halfText_, &deleted)), "") << "they do not come back";
}

TEST_F(LastPairs, EndWithASecretThatWasMadeAnew) {
  const Model one = loadAfter(pairText(first_.certificate, first_.key, ", uid: one"), nullptr);
  EXPECT_EQ(lastIn(loadAfter(pairText(second_.certificate, first_.key, ", uid: one"), &one)), fingerprint_);
  EXPECT_EQ(lastIn(loadAfter(pairText(second_.certificate, first_.key, ", uid: two"), &one)), "");
}

TEST_F(LastPairs, EndIfTheirOwnerRemovesBothParts) {
  const Model half = loadAfter(halfText_, &good_);
  EXPECT_EQ(lastIn(loadAfter(opaqueText({}), &half)), "");
  EXPECT_EQ(lastIn(loadAfter(opaqueText({}), &good_)), "");
}

TEST_F(LastPairs, EndWhenTheyExpire) {
  const base::WallTime end = pki::CertificateChain::parse(first_.certificate)->notAfter();
  const Model half = loadAfter(halfText_, &good_, end - std::chrono::seconds(1));
  EXPECT_EQ(lastIn(half), fingerprint_);
  EXPECT_FALSE(lastPairHasExpired(half, end - std::chrono::seconds(1)));
  EXPECT_TRUE(lastPairHasExpired(half, end));
  EXPECT_EQ(lastIn(loadAfter(halfText_, &half, end)), "");
  EXPECT_EQ(lastIn(loadAfter(goodText_ + "surprise: 1\n", &half, end)), "");
  EXPECT_FALSE(lastPairHasExpired(good_, end)) << "a pair that is written serves until its users refuse it";
}

TEST_F(LastPairs, LeaveAllElseInTheSecretAsItIsWrittenNow) {
  const Model half = loadAfter(halfText_ + "  ca.crt: new\n", &good_);
  EXPECT_EQ(half.find<SecretObject>("default", "s")->find("ca.crt")->reveal(), "new");
  EXPECT_EQ(half.find<SecretObject>("default", "s")->find("tls.crt")->reveal(), second_.certificate);
}

TEST_F(LastPairs, AreNoneOfSecretsWithOtherContent) {
  const Model before = loadAfter(opaqueText("  password: a\n"), nullptr);
  EXPECT_TRUE(loadAfter(opaqueText("  password: b\n"), &before).lastPairs.empty());
  const Model unfit = loadAfter(halfText_, nullptr);
  EXPECT_TRUE(loadAfter(pairText(first_.certificate, second_.key), &unfit).lastPairs.empty()) << "it never had one";
}

}  // namespace
}  // namespace sluice::config
