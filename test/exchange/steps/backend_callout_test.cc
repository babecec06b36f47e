// Tests processors that call a server of their own while their step waits: what they get of the answer, the bounds of a
// callout, and that it ends with the exchange.
#include "proxy/exchange/steps/backend_callout.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/backend_target.h"
#include "test/exchange/steps/process_fixture.h"
#include "test/support/asking/asking_processor.h"

namespace sluice::exchange {
namespace {

using std::chrono::seconds;
using test::AskingOptions;
using test::AskingProcessor;

constexpr const char* kGuard = "192.0.2.50";

std::shared_ptr<const processing::CalloutTarget> guardOf(Version version) {
  routing::BackendPlan plan;
  plan.name = "demo/guard";
  plan.identity = "guard";
  plan.hostname = "guard.test";
  plan.port = 8080;
  plan.authority = "guard.test:8080";
  plan.protocol = version == Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
  return std::make_shared<routing::BackendTarget>(std::make_shared<const routing::BackendPlan>(plan));
}

/// The second version of a pair is that of the Backend and of the called server.
class Callouts : public ProcessorSteps {
 protected:
  void SetUp() override {
    ProcessorSteps::SetUp();
    options_.timeouts.processor = seconds(5);
  }

  Rig& asking(AskingOptions asked = {}, bool failOpen = false) {
    asked.target = target_ = guardOf(backendVersion());
    Step step = step_;
    step.processor = std::make_shared<const AskingProcessor>(asked);
    step.failOpen = failOpen;
    const bool ofBackend = step.scope == Scope::kBackend;
    Rig& rig = ofBackend ? with({}, {step}) : with({step});
    rig.resolver.know("guard.test", {kGuard});
    return rig;
  }
  std::size_t wireTo(const std::string& ip) {
    for (std::size_t i = 0; i < rig_->dialled(); ++i) {
      if (rig_->wire(i).address().ip() == ip) return i;
    }
    ADD_FAILURE() << "nobody dialled " << ip;
    return 0;
  }
  BackendPeer& guard() { return accept(wireTo(kGuard)); }
  BackendPeer& backend() { return accept(wireTo("192.0.2.1")); }
  bool observed(const std::string& status, const std::string& error) const {
    const std::string series =
        "http_client_request_duration_seconds_count{gateway=\"demo/egress\",route=\"demo/route\",backend=\"demo/"
        "guard\","
        "namespace=\"\",serviceAccount=\"\",http_request_method=\"POST\",http_response_status_code=\"" +
        status + "\",error_type=\"" + error + "\"} 1\n";
    return rig_->metricsText().find(series) != std::string::npos;
  }
  std::uint64_t placesTaken() { return rig_->budgets.join("guard").requests.count(); }

  std::shared_ptr<const processing::CalloutTarget> target_;
  Step step_{nullptr, "ask", "acme.test/Ask:v1", Phase::kRequestHeaders, Scope::kRoute};
};

INSTANTIATE_TEST_SUITE_P(Versions, Callouts,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Callouts, TheRequestGoesOnWithTheAnswerOfTheServer) {
  asking();
  const std::size_t index = get();
  ASSERT_EQ(rig_->dialled(), 1U) << "nothing goes to the Backend before the answer";
  BackendPeer& server = guard();
  ASSERT_EQ(server.requests(), 1U);
  EXPECT_EQ(server.request(0).message.head.target, "/ask");
  EXPECT_EQ(server.request(0).message.head.authority, "guard.test:8080");
  EXPECT_EQ(server.request(0).body, "/ok");
  respond(server, 200, "yes");
  BackendPeer& served = backend();
  EXPECT_EQ(fieldOf(seen(served), "x-asked"), "yes");
  EXPECT_EQ(fieldOf(seen(served), "x-asked-number"), "1");
  respond(served, 200, "done");
  EXPECT_EQ(status(index), 200);
  EXPECT_TRUE(observed("200", ""));
  EXPECT_EQ(placesTaken(), 0U);
}

TEST_P(Callouts, AreCountedUnderTheCallerOfTheRequestAsTheirStepIs) {
  asking();
  rig_->caller = std::make_shared<const base::Caller>(base::Caller{"team", "bot", "", base::Assurance::kCertificate});
  get();
  respond(guard(), 200, "yes");
  respond(backend(), 200, "done");
  const std::string page = rig_->metricsText();
  const std::string names = "namespace=\"team\",serviceAccount=\"bot\"";
  EXPECT_NE(page.find("http_client_request_duration_seconds_count{gateway=\"demo/egress\",route=\"demo/route\",backend="
                      "\"demo/guard\"," +
                      names),
            std::string::npos);
  EXPECT_NE(page.find("sluice_processor_duration_seconds_count{type=\"acme.test/Ask:v1\",phase=\"request-headers\"," +
                      names + "} 1\n"),
            std::string::npos);
}

TEST_P(Callouts, OneConnectionServesThemAllAndEachWorkerKeepsItsState) {
  asking();
  for (int round = 1; round <= 3; ++round) {
    get();
    BackendPeer& server = round == 1 ? guard() : *rig_->backends[0];
    respond(server, 200, "yes");
    BackendPeer& served = round == 1 ? backend() : *rig_->backends[1];
    EXPECT_EQ(fieldOf(seen(served), "x-asked-number"), std::to_string(round));
    respond(served, 200, "done");
  }
  EXPECT_EQ(rig_->dialled(), 2U);
}

TEST_P(Callouts, TheServerMayRefuseTheRequest) {
  asking();
  const std::size_t index = get();
  respond(guard(), 403, "no");
  EXPECT_EQ(status(index), 403);
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_P(Callouts, AServerThatRefusesConnectionsFailsTheStep) {
  for (const bool failOpen : {false, true}) {
    asking({}, failOpen);
    const std::size_t index = get();
    rig_->wire(wireTo(kGuard)).refuse();
    EXPECT_TRUE(rig_->settle());
    if (failOpen) respond(backend(), 200, "done");
    EXPECT_EQ(status(index), failOpen ? 200 : 500);
    EXPECT_TRUE(observed("", "connection_refused"));
    EXPECT_EQ(placesTaken(), 0U);
  }
}

TEST_P(Callouts, AResetFailsTheStep) {
  asking();
  const std::size_t index = get();
  BackendPeer& server = guard();
  server.reset(0, http::ResetReason::kFailed);
  EXPECT_TRUE(rig_->settle());
  EXPECT_EQ(status(index), 500);
  EXPECT_EQ(placesTaken(), 0U);
}

TEST_P(Callouts, AServerThatIsLateFailsTheStepAndItsAnswerIsDropped) {
  asking();
  const std::size_t index = get();
  BackendPeer& server = guard();
  rig_->advance(seconds(6));
  EXPECT_TRUE(rig_->settle());
  EXPECT_EQ(status(index), 504);
  EXPECT_TRUE(limited("processor"));
  EXPECT_EQ(placesTaken(), 0U);
  server.respond(0, 200, "yes");
  EXPECT_TRUE(rig_->settle());
  EXPECT_EQ(rig_->told.size(), 1U);
}

TEST_P(Callouts, MayHaveATimeOfTheirOwn) {
  asking({.timeout = seconds(2)});
  const std::size_t index = get();
  guard();
  rig_->advance(seconds(1));
  EXPECT_EQ(rig_->told.size(), 0U);
  rig_->advance(seconds(2));
  EXPECT_EQ(status(index), 504);
  EXPECT_TRUE(observed("", "http_response_timeout"));
}

TEST_P(Callouts, AClientThatLeavesCancelsTheCallout) {
  asking();
  const std::size_t index = get();
  BackendPeer& server = guard();
  EXPECT_EQ(placesTaken(), 1U);
  if (std::get<0>(GetParam()) == Version::kHttp2) {
    client_->cancel(index);
  } else {
    client_->wire().reset();
  }
  EXPECT_TRUE(rig_->settle());
  EXPECT_EQ(placesTaken(), 0U);
  EXPECT_TRUE(server.request(0).reset);
}

TEST_P(Callouts, AShutdownLeavesNothing) {
  asking();
  get();
  guard();
  rig_->close();
  EXPECT_EQ(placesTaken(), 0U);
  EXPECT_EQ(rig_->worker.chunks().inUse(), 0U);
}

TEST_P(Callouts, AnAnswerBeyondItsBoundFailsTheStep) {
  options_.bounds.processorBuffer = 8 * 1024;
  for (const std::size_t size : {8 * 1024, 8 * 1024 + 1}) {
    asking();
    const std::size_t index = get();
    respond(guard(), 200, std::string(size, 'x'));
    if (size == 8 * 1024) respond(backend(), 200, "done");
    EXPECT_EQ(status(index), size == 8 * 1024 ? 200 : 500) << size;
    EXPECT_EQ(limited("processorBuffer"), size > 8 * 1024);
    EXPECT_EQ(rig_->buffers.used(), 0U);
  }
}

TEST_P(Callouts, AStepIsNotLeftOutIfTheServerHasNoRoom) {
  options_.maxRequests = 1;
  for (const bool failOpen : {false, true}) {
    asking({}, failOpen);
    get();
    guard();
    const std::size_t second = rig_->connect(Version::kHttp11).ask({.target = "/ok"});
    EXPECT_TRUE(rig_->settle());
    EXPECT_EQ(rig_->clients[1]->answer(second).message.head.status, 503) << failOpen;
    EXPECT_FALSE(observed("", "connection_limit_reached")) << "the server was not asked";
    EXPECT_NE(rig_->metricsText().find("sluice_limit_hits_total{limit=\"backendRequests\"} 1\n"), std::string::npos);
  }
}

TEST_P(Callouts, AStepIsNotLeftOutIfThereIsNoRoomForTheAnswer) {
  options_.bounds.processorBufferTotal = 64 * 1024;
  for (const bool failOpen : {false, true}) {
    asking({}, failOpen);
    const std::size_t index = get();
    respond(guard(), 200, std::string(128 * 1024, 'x'));
    EXPECT_EQ(status(index), 503) << failOpen;
    EXPECT_TRUE(limited("processorBufferTotal"));
    EXPECT_EQ(rig_->buffers.used(), 0U);
    EXPECT_EQ(placesTaken(), 0U);
  }
}

TEST_P(Callouts, AStepThatIsSkippedKeepsNoPlaceAtTheServer) {
  step_.timeout = seconds(1);
  asking({.timeout = seconds(30)}, true);
  const std::size_t index = get();
  BackendPeer& server = guard();
  rig_->advance(seconds(2));
  EXPECT_EQ(placesTaken(), 0U) << "although the exchange goes on";
  EXPECT_TRUE(server.request(0).reset);
  respond(backend(), 200, "done");
  EXPECT_EQ(status(index), 200);
}

TEST_P(Callouts, LastAsLongAsTheirStepMayWait) {
  step_.timeout = seconds(20);
  asking();
  const std::size_t index = get();
  BackendPeer& server = guard();
  rig_->advance(seconds(15));
  respond(server, 200, "yes");
  respond(backend(), 200, "done");
  EXPECT_EQ(status(index), 200);
}

TEST_P(Callouts, EndWithTheirAttempt) {
  step_.scope = Scope::kBackend;
  step_.phase = Phase::kBackendRequest;
  options_ = retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.backendRequestTimeout = {}; });
  options_.timeouts.processor = seconds(5);
  asking();
  const std::size_t index = get();
  backend();
  BackendPeer& server = guard();
  EXPECT_EQ(placesTaken(), 1U);
  rig_->wire(wireTo("192.0.2.1")).reset();
  EXPECT_TRUE(rig_->settle());
  rig_->advance(seconds(6));
  EXPECT_EQ(placesTaken(), 0U);
  EXPECT_TRUE(server.request(0).reset);
  EXPECT_EQ(rig_->told.size(), 1U) << index;
}

TEST_P(Callouts, WorkInStepsOfAMirror) {
  target_ = guardOf(backendVersion());
  step_.processor = std::make_shared<const AskingProcessor>(AskingOptions{.target = target_});
  step_.scope = Scope::kBackend;
  routing::BackendPlan mirror;
  mirror.name = "demo/mirror";
  mirror.identity = "demo/mirror";
  mirror.hostname = "mirror.test";
  mirror.port = 8080;
  mirror.authority = "mirror.test:8080";
  mirror.protocol = routing::UpstreamProtocol::kHttp11;
  mirror.chain = std::make_shared<const processing::Chain>(std::vector{step_});
  const auto plan = std::make_shared<const routing::BackendPlan>(mirror);
  Rig& rig = with({}, {}, [plan](routing::Rule& rule) { rule.mirrors.push_back({plan, 1, 1}); });
  rig.resolver.know("guard.test", {kGuard});
  rig.resolver.know("mirror.test", {"192.0.2.9"});
  const std::size_t index = get();
  respond(backend(), 200, "done");
  EXPECT_EQ(status(index), 200) << "the client does not wait for it";
  respond(guard(), 200, "yes");
  BackendPeer& copy = rig.accept(wireTo("192.0.2.9"), Version::kHttp11);
  EXPECT_EQ(fieldOf(seen(copy), "x-asked"), "yes");
  respond(copy, 200, "");
  EXPECT_EQ(placesTaken(), 0U);
}

TEST_P(Callouts, GoOnWhenTheirServerIsNotServedAnyMore) {
  asking();
  const std::size_t index = get();
  BackendPeer& server = guard();
  rig_->adopt("next");
  EXPECT_EQ(placesTaken(), 1U);
  respond(server, 200, "yes");
  respond(backend(), 200, "done");
  EXPECT_EQ(status(index), 200);
  EXPECT_TRUE(server.wire().over() || server.wire().finished) << "nobody could want the connection any more";
}

TEST_P(Callouts, AreNotSentForALocalReply) {
  step_.phase = Phase::kResponseHeaders;
  options_ = speaking(backendVersion());
  options_.rule = [](routing::Rule&) {};
  asking();
  rig_->resolver.know(Rig::kHost, base::Error::upstream(base::ErrorType::kDnsError, "no such name"));
  const std::size_t index = get();
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(rig_->dialled(), 0U);
  EXPECT_EQ(placesTaken(), 0U);
}

TEST_P(Callouts, CarryTheNameOfTheGatewaySoThatALoopIsKnown) {
  asking();
  get();
  EXPECT_EQ(fieldOf(guard().request(0).message.head.headers, "via"), std::string("1.1 ") + Rig::kPseudonym);
}

/// A step that holds its callout in the test's hands.
class HeldCallouts : public Callouts {
 protected:
  void SetUp() override {
    Callouts::SetUp();
    target_ = guardOf(backendVersion());
    Rig& rig = with({step("ask", Phase::kRequestHeaders, [this](Call& call) {
      if (callout_ == nullptr) {
        http::RequestHead head;
        head.method = http::Method::kPost;
        head.methodText = "POST";
        head.target = "/ask";
        head.body = Body::kUntilEnd;
        callout_ = &call.callout({target_, head});
      }
      ++asked_;
      if (callout_->over()) {
        over_ = true;
        error_ = callout_->error();
        left_ = callout_->received().size();
        return error_ ? Verdict::fail(*error_) : Verdict::goOn();
      }
      callout_->await(call.suspend(), moment_);
      return Verdict::wait();
    })});
    rig.resolver.know("guard.test", {kGuard});
  }
  void inTurn(const std::function<void()>& act) {
    {
      const net::Worker::Turn turn(rig_->worker);
      act();
    }
    EXPECT_TRUE(rig_->settle());
  }

  processing::Callout* callout_ = nullptr;
  processing::Callout::Moment moment_ = processing::Callout::Moment::kChange;
  int asked_ = 0;
  // The callout has gone from here on.
  bool over_ = false;
  std::optional<base::Error> error_;
  std::size_t left_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Versions, HeldCallouts,
                         ::testing::Combine(::testing::Values(Version::kHttp11),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(HeldCallouts, WakeTheirStepAtEachChange) {
  get();
  BackendPeer& server = guard();
  const int before = asked_;
  server.head(0, {.body = Body::kUntilEnd});
  EXPECT_TRUE(rig_->settle());
  EXPECT_GT(asked_, before);
  ASSERT_NE(callout_->head(), nullptr);
  EXPECT_FALSE(over_);
  const int atHead = asked_;
  server.body(0, "some");
  EXPECT_TRUE(rig_->settle());
  EXPECT_GT(asked_, atHead);
  EXPECT_EQ(callout_->received().text(), "some");
  server.finish(0);
  EXPECT_TRUE(rig_->settle());
  EXPECT_TRUE(over_);
  respond(backend(), 200, "done");
  EXPECT_EQ(rig_->told.size(), 1U);
}

TEST_P(HeldCallouts, TakeNoMoreOfTheBodyThanTheServerTakes) {
  const std::size_t most = options_.bounds.exchangeBuffer;
  get();
  BackendPeer& server = guard();
  rig_->wire(wireTo(kGuard)).allow(0);
  inTurn([&] { callout_->send(std::string(most, 'x')); });
  EXPECT_FALSE(limited("exchangeBuffer"));
  const std::size_t unsent = callout_->unsent();
  inTurn([&] { callout_->send(std::string(most + 1 - unsent, 'x')); });
  EXPECT_TRUE(limited("exchangeBuffer"));
  EXPECT_TRUE(error_);
  EXPECT_EQ(placesTaken(), 0U);
  EXPECT_EQ(server.requests(), 1U);
}

TEST_P(HeldCallouts, GetMoreOfALongAnswerWhenTheyTakeSome) {
  const std::size_t bound = options_.bounds.processorBuffer;
  get();
  BackendPeer& server = guard();
  const std::string much(3 * bound, 'x');
  server.respond(0, 200, much);
  EXPECT_TRUE(rig_->settle());
  EXPECT_GE(callout_->received().size(), bound);
  EXPECT_LT(callout_->received().size(), 2 * bound) << "bytes on their way may come beyond the bound";
  EXPECT_FALSE(over_);
  std::size_t all = 0;
  for (int round = 0; round < 100 && !over_; ++round) {
    inTurn([&] {
      all += callout_->received().size();
      callout_->take(callout_->received().size());
    });
  }
  EXPECT_TRUE(over_);
  EXPECT_EQ(all + left_, much.size());
}

TEST_P(HeldCallouts, FailIfTheyAwaitTheEndOfAnAnswerThatIsTooLong) {
  const std::size_t bound = options_.bounds.processorBuffer;
  get();
  BackendPeer& server = guard();
  server.respond(0, 200, std::string(4 * bound, 'x'));
  EXPECT_TRUE(rig_->settle());
  EXPECT_FALSE(over_);
  moment_ = processing::Callout::Moment::kEnd;
  inTurn([&] { callout_->take(callout_->received().size() - bound / 2); });
  EXPECT_TRUE(error_);
  EXPECT_TRUE(limited("processorBuffer"));
}

class GrpcCallouts : public Callouts {};

INSTANTIATE_TEST_SUITE_P(Versions, GrpcCallouts,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp2)));

TEST_P(GrpcCallouts, MessagesComeOneByOneAndTheirStatusBehindThem) {
  asking({.path = "/acme.Guard/Ask", .grpc = true});
  const std::size_t index = get();
  BackendPeer& server = guard();
  EXPECT_EQ(server.request(0).body, http::frameGrpcMessage("/ok"));
  EXPECT_EQ(fieldOf(server.request(0).message.head.headers, "content-type"), "application/grpc");
  server.head(0, {.fields = {{"content-type", "application/grpc"}}, .body = Body::kUntilEnd});
  server.body(0, http::frameGrpcMessage("may").substr(0, 6));
  EXPECT_TRUE(rig_->settle());
  server.body(0, http::frameGrpcMessage("may").substr(6) + http::frameGrpcMessage("be"));
  EXPECT_TRUE(rig_->settle());
  server.finish(0, {{"grpc-status", "0"}});
  EXPECT_TRUE(rig_->settle());
  BackendPeer& served = backend();
  EXPECT_EQ(fieldOf(seen(served), "x-asked"), "maybe");
  respond(served, 200, "done");
  EXPECT_EQ(status(index), 200);
}

TEST_P(GrpcCallouts, AStatusOtherThanOkFailsTheStep) {
  asking({.path = "/acme.Guard/Ask", .grpc = true});
  const std::size_t index = get();
  BackendPeer& server = guard();
  server.head(0, {.fields = {{"content-type", "application/grpc"}, {"grpc-status", "14"}}});
  EXPECT_TRUE(rig_->settle());
  EXPECT_EQ(status(index), 500);
}

}  // namespace
}  // namespace sluice::exchange
