// A body goes through steps of the listener, before a route is matched and behind it, of the rule and of the Backend.
#include <gtest/gtest.h>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

using processing::Chain;

Work copies(std::string& to) {
  return [&to](Call& call) {
    if (call.body != nullptr) to += call.body->bytes().text();
    return Verdict::goOn();
  };
}

class ProcessStretches : public ProcessWait {
 protected:
  /// Sets steps of the listener that come before a route is matched, and behind it.
  void listen(std::vector<Step> before, std::vector<Step> behind = {}) {
    options_.listener = [=](routing::ServedListener& listener) {
      if (!before.empty()) listener.preRouting = std::make_shared<const Chain>(before);
      if (!behind.empty()) listener.chain = std::make_shared<const Chain>(behind);
    };
  }
  /// Sends a body in two parts, both of them later than the head.
  std::string sendLate() {
    const std::size_t index = askFor(*client_, "", false, false);
    client_->body(index, "first ");
    EXPECT_TRUE(rig_->settle());
    client_->body(index, "second");
    client_->finish(index);
    EXPECT_TRUE(rig_->settle());
    serve();
    EXPECT_EQ(client_->answer(index).message.head.status, 200);
    return rig_->backends.empty() ? "" : rig_->backends[0]->request(0).body;
  }
};

INSTANTIATE_TEST_SUITE_P(, ProcessStretches,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessStretches, ABufferedStepOfABackendGetsABodyThatAStreamedOneOfTheRuleLetsThrough) {
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    SetUp();
    std::string ofRule;
    std::string ofBackend;
    with({step("rule", Phase::kRequestBody, copies(ofRule), BodyInterest{BodyMode::kStreamed})},
         {step("backend", phase, copies(ofBackend), BodyInterest{BodyMode::kBuffered}, 0, Scope::kBackend)});
    EXPECT_EQ(sendLate(), "first second");
    EXPECT_EQ(ofRule, "first second");
    EXPECT_EQ(ofBackend, "first second");
    EXPECT_EQ(rig_->exchanges.bufferRoom().used(), 0U);
  }
}

TEST_P(ProcessStretches, ABufferedStepOfABackendGetsABodyThatCameThroughAListenerWithStepsBeforeRouting) {
  std::string seenBody;
  listen({step("early", Phase::kRequestHeaders, setsRequest("x-early", "1"), 0, Scope::kGateway)});
  with({},
       {step("backend", Phase::kRequestBody, copies(seenBody), BodyInterest{BodyMode::kBuffered}, 0, Scope::kBackend)});
  EXPECT_EQ(sendLate(), "first second");
  EXPECT_EQ(seenBody, "first second");
}

TEST_P(ProcessStretches, ABodyOfManyMegabytesGetsThroughAStreamedStepToABufferedOneOfABackend) {
  options_.bounds.processorBuffer = 8 << 20;
  std::string seenBody;
  with({step("rule", Phase::kRequestBody, goesOn(), BodyInterest{BodyMode::kStreamed})},
       {step("backend", Phase::kRequestBody, copies(seenBody), BodyInterest{BodyMode::kBuffered}, 0, Scope::kBackend)});
  const std::string body(3 << 20, 'b');
  const std::size_t index = askFor(*client_, body);
  serve();
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(seenBody.size(), body.size());
  EXPECT_EQ(rig_->backends.at(0)->request(0).body, body);
}

TEST_P(ProcessStretches, AClientThatWaitsForContinueGetsItForAStepOfTheBackend) {
  std::string seenBody;
  with({step("rule", Phase::kRequestBody, goesOn(), BodyInterest{BodyMode::kStreamed})},
       {step("backend", Phase::kRequestBody, copies(seenBody), BodyInterest{BodyMode::kBuffered}, 0, Scope::kBackend)});
  const std::size_t index =
      client_->ask({.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  ASSERT_TRUE(rig_->settle());
  ASSERT_EQ(client_->answer(index).interims.size(), 1U);
  EXPECT_EQ(client_->answer(index).interims[0], 100);
  client_->body(index, "asked for");
  client_->finish(index);
  ASSERT_TRUE(rig_->settle());
  serve();
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(seenBody, "asked for");
}

// A reload happens while a step before routing waits, so that the rule is one of the next snapshot; then one more
// follows.
TEST_P(ProcessStretches, ARuleThatIsFoundBehindAReloadIsKeptAcrossTheNext) {
  listen({step("early", Phase::kRequestHeaders, waits(), 0, Scope::kGateway)});
  std::string said;
  with({step("late", Phase::kResponseHeaders, setsResponse("x-late", "yes"))});
  const std::size_t index = askFor(*client_);
  ASSERT_EQ(waiting_.size(), 1U);
  rig_->adopt("2");
  resume();
  ASSERT_EQ(rig_->dialled(), 1U);
  rig_->adopt("3");
  serve();
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(fieldOf(answered(index), "x-late"), "yes");
}

TEST_P(ProcessStretches, StepsBehindRoutingKnowTheRouteAlsoIfOthersCameBeforeIt) {
  std::string before = "?";
  std::string behind;
  const auto tells = [](std::string& to) {
    return [&to](Call& call) {
      to =
          std::string(call.place.gateway) + " " + std::string(call.place.route) + " " + std::string(call.place.backend);
      return Verdict::goOn();
    };
  };
  listen({step("early", Phase::kRequestHeaders, tells(before), 0, Scope::kGateway)},
         {step("behind", Phase::kRequestHeaders, tells(behind), 0, Scope::kGateway)});
  with({});
  const std::size_t index = askFor(*client_);
  serve();
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(before, "demo/egress  ");
  EXPECT_EQ(behind, "demo/egress demo/route demo/backend");
}

// A step may ask for another match once, and only while no part of the request was sent.
TEST_P(ProcessStretches, AWishForARouteLosesNothingOfAStreamedBody) {
  for (const bool beforeRouting : {true, false}) {
    SetUp();
    std::string seenBody;
    const auto wishes = [](Call& call) {
      if (call.wish != nullptr && !call.body->bytes().empty()) call.wish->matchAgain = true;
      if (call.wish != nullptr && call.body->last()) call.wish->matchAgain = true;
      return Verdict::goOn();
    };
    Step wishing = step("wishing", Phase::kRequestBody, wishes, BodyInterest{BodyMode::kStreamed}, 0, Scope::kGateway);
    beforeRouting ? listen({wishing}) : listen({}, {wishing});
    with({});
    EXPECT_EQ(sendLate(), "first second");
    const std::size_t index = askFor(*client_, std::string(1 << 20, 'b'));
    serve();
    EXPECT_EQ(client_->answer(index).message.head.status, 200);
  }
}

// A step whose first request for another match was granted cannot keep the exchange busy with further ones.
TEST_P(ProcessStretches, AStepThatWishesForEverEndsItsExchangeAlone) {
  for (const bool beforeRouting : {true, false}) {
    SetUp();
    const auto spins = [](Call& call) {
      if (call.body->bytes().empty()) return Verdict::goOn();
      if (call.wish != nullptr) call.wish->matchAgain = true;
      call.suspend().resume();
      return Verdict::wait();
    };
    Step spinning = step("spinning", Phase::kRequestBody, spins, BodyInterest{BodyMode::kStreamed}, 0, Scope::kGateway);
    beforeRouting ? listen({spinning}) : listen({}, {spinning});
    with({});
    const std::size_t index = askFor(*client_);
    EXPECT_EQ(client_->answer(index).message.head.status, 500);
  }
}

TEST_P(ProcessStretches, ASessionIsHiddenAlsoIfTheRouteIsFoundBehindSteps) {
  for (const bool byHeader : {false, true}) {
    SetUp();
    listen({step("early", Phase::kRequestHeaders, goesOn(), 0, Scope::kGateway)});
    with({}, {}, [byHeader](routing::Rule& rule) {
      auto policy = std::make_shared<routing::SessionPolicy>();
      policy->name = "sid";
      policy->scope = "rule sid";
      policy->byHeader = byHeader;
      policy->shares = {1};
      rule.session = std::move(policy);
      auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
      other->name = "demo/mirror";
      rule.mirrors.push_back({std::move(other), 1, 1});
    });
    rig_->exchanges.sealSessions(
        std::make_shared<const pki::ValueSealer>(base::Secret(std::string(32, 'k')), base::Secret()));
    const std::size_t index = ask({.target = "/ok", .fields = {{"cookie", "sid=one; b=2"}, {"sid", "two"}}});
    serve();
    EXPECT_EQ(client_->answer(index).message.head.status, 200);
    std::size_t requests = 0;
    for (const auto& backend : rig_->backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i, ++requests) {
        const http::Headers& got = backend->request(i).message.head.headers;
        EXPECT_EQ(fieldOf(got, "cookie"), byHeader ? "sid=one; b=2" : "b=2");
        EXPECT_EQ(fieldOf(got, "sid"), byHeader ? "" : "two");
      }
    }
    EXPECT_EQ(requests, 2U);
  }
}

}  // namespace
}  // namespace sluice::exchange
