#include "proxy/server/kubernetes/rollback_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/content/json.h"

namespace sluice::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ListedRevision listedRevision(const std::string& revision, int day, const std::string& state, bool active = false) {
  const std::string time = "2026-11-1" + std::to_string(day) + "T00:00:00Z";
  return {"egress-" + revision,
          "egress",
          revision,
          state,
          state == "Superseded" || state == "Served" ? time : "",
          time,
          active};
}

RollbackChoice choose(const std::vector<ListedRevision>& all, const RollbackOptions& options) {
  const auto choice = chooseRevision(all, options);
  EXPECT_TRUE(choice.ok()) << (choice.ok() ? "" : choice.error().detail);
  return choice.ok() ? *choice : RollbackChoice();
}

std::string whyNone(const std::vector<ListedRevision>& all, const RollbackOptions& options) {
  const auto choice = chooseRevision(all, options);
  return choice.ok() ? choice->activate : choice.error().detail;
}

const RollbackOptions kToTheLast{"demo/egress", "", false};

TEST(RollbackChoice, IsTheRevisionThatWasServedBefore) {
  const std::vector<ListedRevision> all = {listedRevision("aa", 1, "Superseded"), listedRevision("bb", 2, "Superseded"),
                                           listedRevision("cc", 3, "Tainted"), listedRevision("dd", 4, "Served")};
  EXPECT_EQ(choose(all, kToTheLast).activate, "egress-bb");
  EXPECT_THAT(choose(all, kToTheLast).deactivate, IsEmpty());
}

TEST(RollbackChoice, GoesFurtherBackTheSecondTime) {
  const std::vector<ListedRevision> all = {listedRevision("aa", 1, "Superseded"),
                                           listedRevision("bb", 2, "Served", true),
                                           listedRevision("cc", 3, "Superseded")};
  const RollbackChoice choice = choose(all, kToTheLast);
  EXPECT_EQ(choice.activate, "egress-aa");
  EXPECT_THAT(choice.deactivate, ElementsAre("egress-bb"));
}

TEST(RollbackChoice, IsNoRevisionWithoutAStatus) {
  EXPECT_THAT(whyNone({listedRevision("aa", 1, "")}, {"demo/egress", "aa", false}),
              HasSubstr("no replica of Gateway demo/egress has reported EgressRevision egress-aa to a controller"));
}

TEST(RollbackChoice, IsTheNamedRevisionIfTheNameIsUnique) {
  const std::vector<ListedRevision> all = {listedRevision("aa1", 1, "Superseded"), listedRevision("aa2", 2, "Served"),
                                           listedRevision("cc", 3, "Tainted")};
  EXPECT_EQ(choose(all, {"demo/egress", "aa1", false}).activate, "egress-aa1");
  EXPECT_EQ(choose(all, {"demo/egress", "egress-aa2", false}).activate, "egress-aa2");
  EXPECT_THAT(whyNone(all, {"demo/egress", "aa", false}), HasSubstr("several revisions"));
  EXPECT_THAT(whyNone(all, {"demo/egress", "b", false}), HasSubstr("has no revision 'b'"));
  EXPECT_THAT(whyNone(all, {"demo/egress", "cc", false}), HasSubstr("is tainted"));
  EXPECT_THAT(whyNone(all, {"demo/other", "aa1", false}), HasSubstr("Gateway demo/other has no revision"));
}

TEST(RollbackChoice, UndoesWhatIsActive) {
  const RollbackOptions undo{"demo/egress", "", true};
  const RollbackChoice choice =
      choose({listedRevision("aa", 1, "Served", true), listedRevision("bb", 2, "Superseded")}, undo);
  EXPECT_EQ(choice.activate, "");
  EXPECT_THAT(choice.deactivate, ElementsAre("egress-aa"));
  EXPECT_THAT(whyNone({listedRevision("aa", 1, "Served")}, undo),
              HasSubstr("no revision of Gateway demo/egress is active"));
}

TEST(RollbackChoice, IsReadFromATable) {
  const auto table = content::parseJson(
      R"({"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Gateway"},{"name":"Revision"},{"name":"State"},)"
      R"({"name":"Active"},{"name":"Age"},{"name":"Last Served"}],"rows":[{"cells":["egress-aa","egress","aa","Served",)"
      R"(true,"2d","2026-11-11T00:00:00Z"],"object":{"metadata":{"creationTimestamp":"2026-11-10T00:00:00Z"}}},)"
      R"({"cells":["short"]}]})");
  ASSERT_TRUE(table.ok());
  const std::vector<ListedRevision> read = readRevisionTable(*table);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "egress-aa");
  EXPECT_EQ(read[0].gateway, "egress");
  EXPECT_EQ(read[0].state, "Served");
  EXPECT_EQ(read[0].lastServed, "2026-11-11T00:00:00Z");
  EXPECT_EQ(read[0].created, "2026-11-10T00:00:00Z");
  EXPECT_TRUE(read[0].active);
  EXPECT_EQ(read[1].revision, "");
}

}  // namespace
}  // namespace sluice::server
