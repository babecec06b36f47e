#include "filters/in_process.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Body;
using processing::BodyMode;
using processing::Phase;
using processing::Verdict;
using test::FilterRig;

class InProcessTest : public ::testing::Test {
 protected:
  /// Runs the step on a body in pieces of so many bytes, and returns what goes on; or why the step failed.
  std::string edited(const std::string& text, std::size_t piece = 1 << 20, Phase phase = Phase::kRequestBody) {
    base::ByteQueue bytes(pool_);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      base::ByteQueue next(pool_);
      next.append(std::string_view(text).substr(at, piece));
      bytes.splice(next, next.size());
    }
    Body body(bytes, true);
    rig_.end();
    const Verdict verdict = rig_.run(phase, &body);
    if (verdict.kind() != Verdict::Kind::kContinue) {
      return std::string(processing::causeName(verdict.cause())) + ": " + std::string(verdict.reason());
    }
    if (!body.isChanged()) return "unchanged";
    const base::ByteQueue changed = body.takeChanged();
    std::string result;
    changed.forEachRun([&](std::string_view run) { result += run; });
    return result;
  }

  FilterRig rig_{inProcess()};
  base::ChunkPool pool_;
};

TEST_F(InProcessTest, SetsAndRemovesHeadersByTheHeadAlone) {
  rig_.request({{"x-tier", "gold"}, {"x-old", "1"}, {"x_old", "2"}, {"x-set", "forged"}}, "/v1/chat?a=b");
  ASSERT_EQ(rig_.make("request: {setHeaders: [{name: X-Set, value: 'request.headers[\"x-tier\"] + request.url_path'}, "
                      "{name: x-number, value: '1 + 1'}], removeHeaders: [x-old, {name: X-Tier}]}"),
            "");
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "x-set=gold/v1/chat;x-number=2;");
}

TEST_F(InProcessTest, ReadsTheClientUnlessItIsNotShown) {
  const std::string config =
      "request: {setHeaders: [{name: x-of, value: 'source.serviceAccount + source.assurance + source.address'}]}";
  rig_.request({});
  ASSERT_EQ(rig_.make(config), "");
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "x-of=workerCertificate192.0.2.1;");
  rig_.preAuth = true;
  rig_.peer = {};
  rig_.request({});
  ASSERT_EQ(rig_.make(config), "");
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "x-of=;");
}

TEST_F(InProcessTest, AddsHeadersToThoseThatAreThere) {
  rig_.request({{"x-tier", "gold"}, {"x-old", "1"}});
  ASSERT_EQ(
      rig_.make("request: {addHeaders: [{name: X-Tier, value: '\"silver\"'}, {name: x-path, value: request.path}], "
                "setHeaders: [{name: x-set, value: '\"a\"'}], removeHeaders: [x-old]}"),
      "");
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "x-tier=gold;x-set=a;x-tier=silver;x-path=/;");
  rig_.response(200, {{"x-a", "1"}});
  ASSERT_EQ(rig_.make("response: {addHeaders: [{name: x-a, value: 'string(response.code)'}]}"), "");
  EXPECT_EQ(rig_.run(Phase::kResponseHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.responseFields(), "x-a=1;x-a=200;");
  EXPECT_EQ(rig_.make("request: {addHeaders: [{name: host, value: '\"a\"'}]}")
                .find("UnsupportedValue: request.addHeaders[0].name"),
            0U);
}

TEST_F(InProcessTest, EditsResponses) {
  rig_.request({{"x-tier", "gold"}});
  rig_.response(429, {{"server", "origin"}, {"retry-after", "30"}});
  ASSERT_EQ(rig_.make("response: {setHeaders: [{name: x-why, value: 'request.headers[\"x-tier\"] + "
                      "string(response.code)'}], removeHeaders: [server]}"),
            "");
  EXPECT_EQ(rig_.run(Phase::kResponseHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.responseFields(), "retry-after=30;x-why=gold429;");
  ASSERT_EQ(rig_.make("response: {setBodyFields: [{name: error.code, value: 'response.code'}]}"), "");
  EXPECT_EQ(edited(R"({"error": {}})", 99, Phase::kResponseBody), R"({"error": {"code":429}})");
}

TEST_F(InProcessTest, EditsABodyAndLeavesTheOtherBytes) {
  rig_.request({});
  ASSERT_EQ(rig_.make("request: {setHeaders: [{name: x-model, value: 'json(request.body).model'}], setBodyFields: ["
                      "{name: $.model, value: '\"big-\" + json(request.body).model'}, "
                      "{name: 'options[\"a.b\"]', value: 'json(request.body).t'}, "
                      "{name: list, value: '[json(request.body).t, null, 0.5, \"q\"]'}], "
                      "removeBodyFields: ['$.user', {name: 'tags[0]'}, absent]}"),
            "");
  const std::string text = R"({ "model":"m", "t": 1.50e0, "n": 10000000000000000000000, "user": {}, "tags": [1, 2] })";
  const std::string expected =
      R"({ "model":"big-m", "t": 1.50e0, "n": 10000000000000000000000, "tags": [2],"options":{"a.b":1.50e0},"list":[1.50e0,null,0.5,"q"] })";
  EXPECT_EQ(edited(text), expected);
  EXPECT_EQ(edited(text, 7), expected);
  EXPECT_EQ(rig_.requestFields(), "x-model=m;");
}

TEST_F(InProcessTest, ReadsABodyWithoutChangingIt) {
  rig_.request({});
  ASSERT_EQ(rig_.make("request: {setHeaders: [{name: x-model, value: 'json(request.body).model'}]}"), "");
  EXPECT_EQ(edited(R"({"model": "m"})"), "unchanged");
  EXPECT_EQ(rig_.requestFields(), "x-model=m;");
}

TEST_F(InProcessTest, FailsWithoutATrace) {
  rig_.request({{"x", "1"}});
  ASSERT_EQ(
      rig_.make("request: {setHeaders: [{name: x, value: '\"2\"'}, {name: y, value: 'json(request.body).model'}], "
                "setBodyFields: [{name: a.b, value: '1.0 / json(request.body).n'}]}"),
      "");
  EXPECT_EQ(edited(R"({"n": 1.0})"), "error: setHeaders[1].value: the body has no such field");
  EXPECT_EQ(edited(R"({"model": "a\nb"})"),
            "error: setHeaders[1].value: the result is not the value of a header field");
  EXPECT_EQ(edited(R"({"model": []})"),
            "error: setHeaders[1].value: an operand has a type that the operation does not take");
  EXPECT_EQ(edited(R"({"model": "a")"), "bad_body: setHeaders[1].value: the body is no JSON");
  EXPECT_EQ(edited(""), "bad_body: setHeaders[1].value: the body is no JSON");
  EXPECT_EQ(edited(R"({"model": "m", "n": 0.0})"),
            "error: setBodyFields[0].value: a number is infinite, which JSON has no spelling for");
  EXPECT_EQ(edited(R"({"model": "m", "n": 2.0, "a": 5})"),
            "error: \"/a/b\" leads nowhere: its step 2 is into no map, and none of a list");
  EXPECT_EQ(rig_.requestFields(), "x=1;");
  ASSERT_EQ(rig_.make("request: {removeBodyFields: [a]}"), "");
  EXPECT_EQ(edited("no JSON"), "bad_body: the body is no JSON");
  EXPECT_EQ(edited(R"({"b": 1, "b": 2})"), "bad_body: the body is no JSON");
}

/// Returns a config with so many header fields, each of which takes about 250,000 steps for a body of 40,000 bytes.
std::string slowFields(int count) {
  std::string fields;
  for (int i = 0; i < count; ++i) {
    fields += "{name: x-" + std::to_string(i) + ", value: 'size(request.body.replace(\"a\", \"bc\"))'}, ";
  }
  return "request: {setHeaders: [" + fields + "]}";
}

TEST_F(InProcessTest, LetsOthersHaveTheirTurnBetweenSlowExpressions) {
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1000}}) {
    rig_.request({});
    ASSERT_EQ(rig_.make(slowFields(4)), "");
    base::ByteQueue bytes(pool_);
    const std::string text(40'000, 'a');
    for (std::size_t at = 0; at < text.size(); at += piece) {
      base::ByteQueue next(pool_);
      next.append(std::string_view(text).substr(at, piece));
      bytes.splice(next, next.size());
    }
    Body body(bytes, true);
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(rig_.run(Phase::kRequestBody, &body).kind(), Verdict::Kind::kWait);
      EXPECT_EQ(rig_.requestFields(), "") << "all or nothing";
    }
    EXPECT_EQ(rig_.run(Phase::kRequestBody, &body).kind(), Verdict::Kind::kContinue);
    EXPECT_EQ(rig_.requestFields(), "x-0=80000;x-1=80000;x-2=80000;x-3=80000;");
  }
  rig_.request({});
  ASSERT_EQ(rig_.make(slowFields(4)), "");
  EXPECT_EQ(edited("a"), "unchanged") << "in one turn";
}

TEST_F(InProcessTest, FailsClosedIfARequestTakesTooMuchWork) {
  rig_.work.steps = 1'200'000;
  rig_.request({});
  ASSERT_EQ(rig_.make(slowFields(6)), "");
  base::ByteQueue bytes(pool_);
  bytes.append(std::string(40'000, 'a'));
  Body body(bytes, true);
  Verdict verdict = rig_.run(Phase::kRequestBody, &body);
  int turns = 1;
  for (; verdict.kind() == Verdict::Kind::kWait && turns < 10; ++turns) verdict = rig_.run(Phase::kRequestBody, &body);
  EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(verdict.cause(), processing::Cause::kOverWork);
  EXPECT_EQ(verdict.limit(), "stepWork");
  EXPECT_EQ(turns, 5) << "four fields are within the bound";
  EXPECT_EQ(processing::causeName(verdict.cause()), "budget");
  processing::Step open;
  open.failOpen = true;
  EXPECT_FALSE(processing::isSkipped(open, verdict));
  EXPECT_EQ(rig_.requestFields(), "");
}

TEST_F(InProcessTest, EditsOfManyFieldsOfALargeBodyAreWorkToo) {
  rig_.work.steps = 100'000;
  rig_.request({});
  ASSERT_EQ(rig_.make("request: {removeBodyFields: [a, b, c, d]}"), "");
  EXPECT_EQ(edited("{\"a\": \"" + std::string(50'000, 'x') + "\"}"), "{}");
  EXPECT_EQ(edited("{\"a\": \"" + std::string(100'000, 'x') + "\"}").find("budget: "), 0U);
}

TEST_F(InProcessTest, RefusesPatternsThatMayTakeTooLongWithThePlace) {
  EXPECT_EQ(rig_.make("request: {setHeaders: [{name: a, value: 'string(request.path.matches(\"a{200}\"))'}]}")
                .find("UnsupportedValue: request.setHeaders[0].value: at character 29: the pattern has 20"),
            0U);
  std::string fields;
  for (int i = 0; i < 64; ++i) {
    fields +=
        "{name: x-" + std::to_string(i) + ", value: 'string(request.path.matches(\"a" + std::to_string(i) + "\"))'}, ";
  }
  EXPECT_EQ(rig_.make("request: {setHeaders: [" + fields +
                      "], addHeaders: [{name: a, value: "
                      "'string(request.path.matches(\"a1\"))'}]}"),
            "");
  EXPECT_EQ(rig_.make("{request: {setHeaders: [" + fields +
                      "]}, response: {addHeaders: [{name: a, value: "
                      "'string(request.path.matches(\"b\"))'}]}}"),
            "UnsupportedValue: response.addHeaders[0].value: at character 29: the pattern is one of more than 64 "
            "different ones of the use");
}

TEST_F(InProcessTest, RefusesWhatItCannotDoWithThePlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"request: {setHeaders: [{name: a, value: '\"a\"'}, {name: a, value: 'a.b'}]}",
       "request.setHeaders[1].value: at character 1: there is no variable \"a\""},
      {"request: {setHeaders: [{name: host, value: '\"a\"'}]}",
       "request.setHeaders[0].name: host belongs to the gateway and cannot be changed"},
      {"request: {setHeaders: [{name: a, value: '\"\\n\"'}]}",
       "request.setHeaders[0].value: is not the value of a header field"},
      {"request: {removeHeaders: [{name: te}]}",
       "request.removeHeaders[0]: te belongs to the gateway and cannot be changed"},
      {"request: {setBodyFields: [{name: '$..a', value: '1'}]}",
       "request.setBodyFields[0].name: at character 2: no name follows; one value can be asked for, by names and "
       "indices"},
      {"request: {setBodyFields: [{name: '$', value: '1'}]}", "request.setBodyFields[0].name: is the whole body"},
      {"request: {removeBodyFields: ['a[-1]']}", "request.removeBodyFields[0]: an index from the end is not supported"},
      {"response: {setBodyFields: [{name: a, value: 'request.body'}]}",
       "response.setBodyFields[0].value: at character 9: request.body is not kept until the response is edited"},
  };
  for (const auto& [config, expected] : rows) {
    EXPECT_EQ(rig_.make(config), std::string("UnsupportedValue: ") + expected) << config;
  }
}

TEST_F(InProcessTest, WaitsForTheBodyOnlyIfAnEditNeedsIt) {
  const auto phasesOf = [&](const std::string& config) {
    FilterRig rig(inProcess());
    EXPECT_EQ(rig.make(config), "");
    std::string phases;
    for (const Phase phase : rig.processor().phases()) {
      const processing::BodyInterest interest = rig.processor().body(phase);
      phases += std::string(processing::phaseName(phase)) + (interest.mode == BodyMode::kBuffered ? " buffered" : "") +
                (interest.edits ? " edits" : "") + ";";
    }
    return phases;
  };
  EXPECT_EQ(phasesOf("request: {setHeaders: [{name: a, value: request.path}]}"), "request-headers;");
  EXPECT_EQ(phasesOf("request: {setHeaders: [{name: a, value: 'request.body'}]}"), "request-body buffered;");
  EXPECT_EQ(phasesOf("{request: {removeBodyFields: [a]}, response: {removeHeaders: [b]}}"),
            "request-body buffered edits;response-headers;");
  EXPECT_EQ(phasesOf("response: {setHeaders: [{name: a, value: 'json(response.body).id'}]}"),
            "response-body buffered;");
  EXPECT_EQ(phasesOf("request: {}"), "");
}

}  // namespace
}  // namespace sluice::filters
