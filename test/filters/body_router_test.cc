#include "filters/body_router.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"
#include "test/support/manual_clock.h"

namespace sluice::filters {
namespace {

using processing::Body;
using processing::Phase;
using processing::Verdict;
using test::FilterRig;

class BodyRouterTest : public ::testing::Test {
 protected:
  Verdict piece(const std::string& text, bool last) {
    bytes_.append(text);
    Body body(bytes_, last);
    Verdict verdict = rig_.run(Phase::kRequestBody, &body);
    EXPECT_FALSE(body.isChanged());
    bytes_.clear();
    return verdict;
  }
  Verdict route(const std::string& text) {
    rig_.end();
    return piece(text, true);
  }
  std::string hint(std::string_view name) {
    const http::Field* field = rig_.wish.hints.find(name);
    return field != nullptr ? std::string(field->value) : std::string();
  }

  FilterRig rig_{bodyRouter()};
  base::ChunkPool pool_;
  base::ByteQueue bytes_{pool_};
};

TEST_F(BodyRouterTest, TurnsTheModelIntoAFieldAndMatchesTheRouteAgain) {
  rig_.request({{"content-type", "application/json"}, {"x-gateway-model-name", "forged"}});
  ASSERT_EQ(rig_.make("{}"), "");
  EXPECT_EQ(route(R"({"messages": [], "model": "gpt-4o"})").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "content-type=application/json;x-gateway-model-name=gpt-4o;");
  EXPECT_TRUE(rig_.wish.matchAgain);
}

TEST_F(BodyRouterTest, ReadsABodyAsItComesAndDecidesAtItsEnd) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{}"), "");
  for (const char* text : {"{\"mod", "el\": \"gpt", "-4o\", \"n\"", "", ": 1"}) {
    EXPECT_EQ(piece(text, false).kind(), Verdict::Kind::kContinue);
    EXPECT_EQ(rig_.requestFields(), "content-type=application/json;");
  }
  EXPECT_EQ(piece("}", true).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "content-type=application/json;x-gateway-model-name=gpt-4o;");
}

TEST_F(BodyRouterTest, RefusesABodyThatIsNoJsonBeforeItsEnd) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{}"), "");
  EXPECT_EQ(piece("{\"model\": \"m\"} x", false).kind(), Verdict::Kind::kFail);
}

TEST_F(BodyRouterTest, NeedsMemoryOnlyForTheNamesOfAMap) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{}"), "");
  processing::BufferBudget budget(64 * 1024);
  const test::ManualClock clock;
  processing::BufferRoom room(budget, clock);
  processing::BufferShare share(room);
  const auto show = [&](const std::string& text) {
    bytes_.append(text);
    Body body(bytes_, false, share, 0, 0);
    Verdict verdict = rig_.run(Phase::kRequestBody, &body);
    bytes_.clear();
    return verdict;
  };
  EXPECT_EQ(show("{\"text\":\"" + std::string(1 << 20, 'x')).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(room.used(), processing::BufferShare::kUnit);
  std::string names = "\"";
  for (int i = 0; i < 5000; ++i) names += ",\"" + std::to_string(i) + "\":0";
  const Verdict verdict = show(names);
  EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(verdict.cause(), processing::Cause::kNoRoom);
}

TEST_F(BodyRouterTest, SetsAHintForMatchingOnly) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{pointer: /tool/name, routeHint: X-Tool}"), "");
  route(R"({"tool": {"name": "search"}})");
  EXPECT_EQ(rig_.requestFields(), "content-type=application/json;");
  EXPECT_EQ(hint("x-tool"), "search");
}

TEST_F(BodyRouterTest, LetsOtherTypesPassUnreadWithoutAForgedField) {
  ASSERT_EQ(rig_.make("{}"), "");
  rig_.request({{"content-type", "multipart/form-data; boundary=x"}, {"x-gateway-model-name", "forged"}});
  EXPECT_EQ(rig_.run(Phase::kRequestBody).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "content-type=multipart/form-data; boundary=x;");
  EXPECT_FALSE(rig_.wish.matchAgain);
}

TEST_F(BodyRouterTest, KeepsTheRouteForABodyWithoutTheValue) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{}"), "");
  EXPECT_EQ(route(R"({"messages": []})").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(route("").kind(), Verdict::Kind::kContinue);
  EXPECT_FALSE(rig_.wish.matchAgain);
}

TEST_F(BodyRouterTest, RefusesABodyThatCannotBeRead) {
  rig_.request({{"content-type", "application/json"}});
  ASSERT_EQ(rig_.make("{}"), "");
  const Verdict broken = route(R"({"model": )");
  EXPECT_EQ(broken.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(broken.cause(), processing::Cause::kBadBody);
  const Verdict odd = route(R"({"model": ["a"]})");
  EXPECT_EQ(odd.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(odd.cause(), processing::Cause::kBadBody);
}

TEST_F(BodyRouterTest, RefusesContradictoryConfigsAndFieldsOfTheGateway) {
  EXPECT_EQ(rig_.make("{pointer: /a, jsonPath: $.a}"), "InvalidConfig: pointer and jsonPath exclude each other");
  EXPECT_NE(rig_.make("{routeHint: connection}").find("routeHint"), std::string::npos);
  EXPECT_NE(rig_.make("{header: host}").find("header"), std::string::npos);
}

}  // namespace
}  // namespace sluice::filters
