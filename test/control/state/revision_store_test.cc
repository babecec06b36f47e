#include "proxy/control/state/revision_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/load/object_set.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kOpen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
const std::string kHidden = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hidden}\n";

class RevisionStoreTest : public testing::Test {
 protected:
  RevisionStoreTest() {
    if (::mkdtemp(parent_.data()) == nullptr) std::abort();
    folder_ = parent_ + "/state";
    open();
  }
  ~RevisionStoreTest() override { std::filesystem::remove_all(parent_); }

  void open() {
    auto opened = RevisionStore::open(folder_);
    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    store_.emplace(std::move(*opened));
  }
  static CompiledConfiguration served(const std::string& digest, const std::string& text) {
    config::TextCache cache;
    CompiledConfiguration configuration;
    configuration.set = config::readTexts({{"a.yaml", text}}, {}, base::Secret("key"), cache);
    configuration.digest = configuration.servedDigest = digest;
    return configuration;
  }
  void keep(RevisionLedger& ledger, const std::string& digest, const std::string& text) {
    EXPECT_TRUE(store_->keep(served(digest, text)).ok());
    ledger.addServed(digest, digest, {});
    EXPECT_TRUE(store_->keep(ledger).ok());
  }
  std::string bytesOf(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string parent_ = ::testing::TempDir() + "store.XXXXXX";
  std::string folder_;
  std::optional<RevisionStore> store_;
  config::Problems problems_;
};

TEST_F(RevisionStoreTest, ReturnsTheLastGoodConfigurationWithItsSecretsAndKeptVersions) {
  EXPECT_FALSE(store_->lastGood(problems_));
  CompiledConfiguration configuration = served("d1", kOpen + "---\n" + kHidden);
  configuration.kept.push_back(
      {{"name", {}, config::Covers::kRevision},
       std::make_shared<const config::KeptText>(config::KeptText{"old.yaml", base::Secret("old text")})});
  ASSERT_TRUE(store_->keep(configuration).ok());
  const auto stored = store_->lastGood(problems_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->digest, "d1");
  ASSERT_EQ(stored->written.size(), 1U);
  EXPECT_EQ(stored->written[0].file, "a.yaml");
  EXPECT_EQ(stored->written[0].text, kOpen + "---\n" + kHidden);
  ASSERT_EQ(stored->kept.size(), 1U);
  EXPECT_EQ(stored->kept[0].text, "old text");
  EXPECT_TRUE(problems_.empty());
}

TEST_F(RevisionStoreTest, TheHistoryHasNoSecrets) {
  RevisionLedger ledger;
  keep(ledger, "d1", kOpen + "---\n" + kHidden);
  EXPECT_THAT(bytesOf("last-good"), HasSubstr("hidden"));
  EXPECT_THAT(bytesOf("revision-d1"), Not(HasSubstr("hidden")));
  const auto stored = store_->ofHistory("d1", problems_);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->written.at(0).text, kOpen);
}

TEST_F(RevisionStoreTest, StoresTheSameObjectsOnceInTheHistory) {
  const auto textOf = [&] { return store_->ofHistory("d1", problems_).value().written[0].text; };
  ASSERT_TRUE(store_->keep(served("d1", kOpen + "# 1\n")).ok());
  ASSERT_TRUE(store_->keep(served("d1", kOpen + "# 2\n")).ok());
  EXPECT_EQ(textOf(), kOpen + "# 1\n") << "the digest says that it is the same";
  EXPECT_EQ(store_->lastGood(problems_).value().written[0].text, kOpen + "# 2\n") << "with the endpoints of now";
  std::filesystem::remove(folder_ + "/revision-d1");
  ASSERT_TRUE(store_->keep(served("d1", kOpen + "# 3\n")).ok());
  EXPECT_EQ(textOf(), kOpen + "# 3\n");
  ASSERT_TRUE(store_->keep(served("d2", kOpen + "# 1\n")).ok());
  ASSERT_TRUE(store_->keep(served("d1", kOpen + "# 4\n")).ok());
  EXPECT_EQ(textOf(), kOpen + "# 4\n");
}

TEST_F(RevisionStoreTest, ForgetsWhatTheLedgerForgets) {
  RevisionLedger ledger;
  ledger.setMost(2);
  for (const char* digest : {"d1", "d2", "d3"}) keep(ledger, digest, kOpen);
  EXPECT_FALSE(store_->ofHistory("d1", problems_));
  EXPECT_TRUE(store_->ofHistory("d2", problems_));
  EXPECT_TRUE(store_->ofHistory("d3", problems_));
}

TEST_F(RevisionStoreTest, ReportsDamagedFilesAndLeavesThemOut) {
  RevisionLedger ledger;
  keep(ledger, "d1", kOpen);
  for (const char* name : {"last-good", "revision-d1", "ledger"}) std::ofstream(folder_ + "/" + name) << "nonsense";
  EXPECT_FALSE(store_->lastGood(problems_));
  EXPECT_FALSE(store_->ofHistory("d1", problems_));
  RevisionLedger read;
  store_->read(read, problems_);
  EXPECT_TRUE(read.revisions().empty());
  ASSERT_EQ(problems_.size(), 3U);
  EXPECT_EQ(problems_[0].message, folder_ + "/last-good: is damaged");
  EXPECT_EQ(problems_[2].message, folder_ + "/ledger: is damaged");
}

TEST_F(RevisionStoreTest, KeepsItsKeyAndItsLedger) {
  const std::string key(store_->key().reveal());
  EXPECT_EQ(key.size(), 32U);
  RevisionLedger ledger;
  ledger.addTainted("bad", "it is broken", {});
  ASSERT_TRUE(store_->keep(ledger).ok());
  store_.reset();
  open();
  EXPECT_EQ(store_->key().reveal(), key);
  RevisionLedger read;
  store_->read(read, problems_);
  EXPECT_EQ(read.revisions(), ledger.revisions());
}

TEST_F(RevisionStoreTest, BelongsToOneProcess) {
  EXPECT_EQ(RevisionStore::open(folder_).error().detail, folder_ + ": another process uses this folder");
  store_.reset();
  EXPECT_TRUE(RevisionStore::open(folder_).ok());
}

}  // namespace
}  // namespace sluice::control
