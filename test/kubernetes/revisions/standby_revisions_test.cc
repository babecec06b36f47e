#include "proxy/kubernetes/revisions/standby_revisions.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "test/kubernetes/revisions/revision_objects.h"

namespace sluice::kubernetes {
namespace {

class StandbyRevisions : public testing::Test {
 protected:
  /// `day` is that of the creation.
  void put(const std::string& revision, int day, const std::string& status, const std::string& spec = "") {
    const std::string created = "2026-11-1" + std::to_string(day) + "T00:00:00Z";
    EgressRevision read = revisionOf(revisionItem(revision, spec, status, created));
    all.insert_or_assign(read.key(), std::move(read));
  }
  StandbyRevision standby() const { return standbysOf(all).at({"Gateway", "demo", "egress"}); }

  std::map<ApiObjectKey, EgressRevision> all;
};

constexpr const char* kServedFirst = R"({"state":"Superseded","lastServed":"2026-11-20T00:00:00Z"})";
constexpr const char* kServedLater = R"({"state":"Superseded","lastServed":"2026-11-21T00:00:00Z"})";

TEST_F(StandbyRevisions, AreTheGoodOnesThatWereServedLast) {
  put("a", 0, kServedLater);
  put("b", 1, kServedFirst);
  put("c", 2, R"({"state":"Tainted","lastServed":"2026-11-22T00:00:00Z"})");
  put("d", 3, R"({"state":"Refused"})");
  EXPECT_EQ(standby().newest->revision, "d");
  EXPECT_EQ(standby().good->revision, "a");
  EXPECT_TRUE(standby().isNeeded());
}

TEST_F(StandbyRevisions, AreNotThoseThatOnlyACanaryServes) {
  put("a", 0, kServedFirst);
  put("b", 1, R"({"state":"PartlyServed","lastServed":"2026-11-21T00:00:00Z"})", R"(,"canary":"pod-1")");
  put("c", 2, R"({"state":"Tainted"})");
  EXPECT_EQ(standby().good->revision, "a");
  put("b", 1,
      R"({"state":"PartlyServed","lastServed":"2026-11-21T00:00:00Z","conditions":[{"type":"Validated","status":"True"}]})",
      R"(,"canary":"pod-1")");
  EXPECT_EQ(standby().good->revision, "b");
}

TEST_F(StandbyRevisions, AreNotThoseThatOnlyTheirCreatorsKnow) {
  put("a", 0, R"({"state":"Tainted"})");
  put("b", 1, "");
  EXPECT_EQ(standby().newest->revision, "a");
  EXPECT_EQ(standby().good, nullptr);
  EXPECT_FALSE(standby().isNeeded());
}

TEST_F(StandbyRevisions, AreNeededWhileTheNewestOneIsRefusedOrAwaitsItsCanary) {
  put("a", 0, kServedFirst);
  put("b", 1, R"({"state":"Pending"})");
  EXPECT_FALSE(standby().isNeeded());
  put("b", 1, R"({"state":"PartlyServed","lastServed":"2026-11-22T00:00:00Z"})", R"(,"canary":"pod-1")");
  EXPECT_TRUE(standby().isNeeded());
  put("b", 1, R"({"state":"Tainted"})", R"(,"canary":"pod-1")");
  EXPECT_TRUE(standby().isNeeded());
  put("b", 1, R"({"state":"Served","lastServed":"2026-11-22T00:00:00Z"})");
  EXPECT_FALSE(standby().isNeeded());
}

TEST_F(StandbyRevisions, AreNotConfusedByTwoRevisionsOfOneSecond) {
  for (const char* refused : {"a", "z"}) {
    all.clear();
    put("m", 0, kServedFirst);
    put(refused, 0, R"({"state":"Refused"})");
    EXPECT_EQ(standby().newest->revision, refused);
    EXPECT_EQ(standby().good->revision, "m");
  }
}

}  // namespace
}  // namespace sluice::kubernetes
