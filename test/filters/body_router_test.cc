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
  rig_.request({{"content-type", "text/plain"}, {"x-gateway-model-name", "forged"}});
  EXPECT_EQ(rig_.run(Phase::kRequestBody).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "content-type=text/plain;");
  EXPECT_FALSE(rig_.wish.matchAgain);
}

constexpr const char* kFormType = "multipart/form-data; boundary=x";
const std::string kModelField = "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--x";

TEST_F(BodyRouterTest, TurnsTheModelOfAFormIntoAField) {
  rig_.request({{"content-type", kFormType}, {"x-gateway-model-name", "forged"}});
  ASSERT_EQ(rig_.make("{}"), "");
  EXPECT_EQ(piece(kModelField.substr(0, 60), false).kind(), Verdict::Kind::kContinue);
  EXPECT_FALSE(rig_.wish.matchAgain);
  EXPECT_EQ(piece(kModelField.substr(60) + "--\r\n", true).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), std::string("content-type=") + kFormType + ";x-gateway-model-name=whisper-1;");
  EXPECT_TRUE(rig_.wish.matchAgain);
}

TEST_F(BodyRouterTest, RefusesAFormThatCannotBeRead) {
  ASSERT_EQ(rig_.make("{}"), "");
  rig_.request({{"content-type", kFormType}});
  EXPECT_EQ(route("").kind(), Verdict::Kind::kContinue) << "no form, and no value";
  for (const std::string& text : {kModelField, std::string("--y--"), kModelField + "\r\n\r\n"}) {
    const Verdict verdict = route(text);
    EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail) << text;
    EXPECT_EQ(verdict.cause(), processing::Cause::kBadBody);
  }
  rig_.request({{"content-type", "multipart/form-data"}});
  EXPECT_EQ(route(kModelField + "--").cause(), processing::Cause::kBadBody);
}

TEST_F(BodyRouterTest, SearchesTheBeginningOfALongForm) {
  ASSERT_EQ(rig_.make("{}"), "");
  const auto searched = [&](const std::string& text) {
    rig_.end();
    rig_.request({{"content-type", kFormType}});
    rig_.wish = {};
    bytes_.append(text);
    Body body(bytes_, true);
    body.cut();
    Verdict verdict = rig_.run(Phase::kRequestBody, &body);
    bytes_.clear();
    return verdict.kind() == Verdict::Kind::kFail ? "refused" : rig_.wish.matchAgain ? "routed" : "passed";
  };
  const std::string file = "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nxxx";
  EXPECT_EQ(searched(kModelField + file), std::string("routed"));
  EXPECT_EQ(searched("--x" + file), std::string("passed"));
  EXPECT_EQ(searched(kModelField.substr(0, kModelField.size() - 8)), std::string("refused")) << "a part of the value";
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
