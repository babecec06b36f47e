#include "proxy/control/state/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::control {
namespace {

constexpr base::WallTime at(int second) { return base::WallTime(std::chrono::seconds(second)); }

std::string digestsOf(const RevisionLedger& ledger) {
  std::string all;
  for (const LedgerRevision& each : ledger.revisions()) all += each.digest + (each.tainted() ? "! " : " ");
  return all;
}

TEST(RevisionLedger, HasTheNewestFirstAndEachRevisionOnce) {
  RevisionLedger ledger;
  ledger.addServed("a", "a", at(1));
  ledger.addServed("b", "b", at(2));
  ledger.addTainted("c", "it is broken", at(3));
  ledger.addServed("a", "a", at(4));
  EXPECT_EQ(digestsOf(ledger), "a c! b ");
}

TEST(RevisionLedger, ForgetsTheOldestBeyondItsBound) {
  RevisionLedger ledger;
  for (const char* digest : {"a", "b", "c"}) ledger.addServed(digest, digest, at(1));
  ledger.setMost(2);
  EXPECT_EQ(digestsOf(ledger), "c b ");
  ledger.addServed("d", "d", at(2));
  EXPECT_EQ(digestsOf(ledger), "d c ");
  ledger.setMost(0);
  EXPECT_EQ(digestsOf(ledger), "d ") << "the one that is served stays";
  RevisionLedger usual;
  for (int i = 0; i < 12; ++i) usual.addServed(std::to_string(i), "", at(1));
  EXPECT_EQ(usual.revisions().size(), 10U);
}

TEST(RevisionLedger, RefusedRevisionsDisplaceNoneThatWasServed) {
  RevisionLedger ledger;
  ledger.setMost(2);
  ledger.addServed("good", "good", at(1));
  for (const char* digest : {"a", "b", "c"}) ledger.addTainted(digest, "it is broken", at(2));
  EXPECT_EQ(digestsOf(ledger), "c! b! good ");
  EXPECT_FALSE(ledger.clear("")) << "no revision is meant";
}

TEST(RevisionLedger, ARevisionIsTaintedUntilItIsClearedOrServed) {
  RevisionLedger ledger;
  ledger.addTainted("abc", "one", at(1));
  ledger.addTainted("abd", "two", at(1));
  ledger.addServed("abe", "abe", at(1));
  ASSERT_NE(ledger.findTainted("abc"), nullptr);
  EXPECT_EQ(ledger.findTainted("abc")->reason, "one");
  EXPECT_EQ(ledger.findTainted("ab"), nullptr);
  EXPECT_EQ(ledger.findTainted("abe"), nullptr);
  EXPECT_FALSE(ledger.clear("ab")) << "there are two";
  EXPECT_FALSE(ledger.clear("abe")) << "it is not tainted";
  EXPECT_TRUE(ledger.clear("abc"));
  EXPECT_EQ(ledger.findTainted("abc"), nullptr);
  EXPECT_TRUE(ledger.clear("ab")) << "there is one now";
  EXPECT_EQ(digestsOf(ledger), "abe ");
}

TEST(RevisionLedger, IsTheSameAfterItWasSavedAndLoaded) {
  RevisionLedger ledger;
  ledger.addServed("a", "b", at(1));
  ledger.addTainted("c", "it is broken", at(3));
  const std::vector<std::string> saved = ledger.save();
  RevisionLedger loaded;
  ASSERT_TRUE(loaded.load({saved.begin(), saved.end()}));
  EXPECT_EQ(loaded.revisions(), ledger.revisions());
  EXPECT_FALSE(loaded.load({"a", "b", "1"}));
  EXPECT_FALSE(loaded.load({"a", "b", "soon", ""}));
  EXPECT_EQ(loaded.revisions(), ledger.revisions()) << "it stays as it is";
}

TEST(RevisionLedger, IsShownByTheBeginningsOfDigests) {
  RevisionLedger ledger;
  ledger.addServed("0123456789abcdef", "fedcba9876543210", at(1));
  ledger.addTainted("aaaaaaaaaaaaaaaa", "no class", at(2));
  EXPECT_EQ(ledgerDocument(ledger),
            "[{\"revision\":\"aaaaaaaaaaaa\",\"time\":\"1970-01-01T00:00:02.000Z\",\"tainted\":true,"
            "\"reason\":\"no class\"},{\"revision\":\"0123456789ab\",\"served\":\"fedcba987654\","
            "\"time\":\"1970-01-01T00:00:01.000Z\",\"tainted\":false}]\n");
}

}  // namespace
}  // namespace sluice::control
