// Tests rules with `retry`, which list the answers and failures that lead to another attempt: when and where it is
// made, and what the client, the log and the metrics show of it. retry_test.cc tests rules without `retry`.
#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::BackendPeer;
using test::Rig;
using test::RigOptions;

INSTANTIATE_TEST_SUITE_P(Versions, RuleRetry,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(RuleRetry, AStatusOfItsCodesIsNotShownToTheClient) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "not now");
  EXPECT_FALSE(client_->answer(index).answered);
  rig.advanceShortOf(kBackoff);
  EXPECT_EQ(backend.requests(), 1U) << "not before the backoff has passed";
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U) << "on the same connection: the answer was whole";
  EXPECT_EQ(rig.dialled(), 1U);
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_EQ(client("503", ""), 1);
  EXPECT_EQ(client("200", ""), 1);
  EXPECT_EQ(rig.retried, 1);
  EXPECT_FALSE(rig.told[0].error);
  expectTold(200, 2);
}

TEST_P(RuleRetry, OtherStatusesGoToTheClient) {
  make();
  const std::size_t index = get();
  respond(accept(0), 502, "no");
  EXPECT_EQ(status(index), 502);
  expectTold(502, 1);
}

TEST_P(RuleRetry, TheLastAttemptsResponseGoesToTheClientWhateverItIs) {
  make(2);
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  for (int i = 0; i < 2; ++i) {
    respond(backend, 503, "not now");
    passBackoff(1 << i);
  }
  ASSERT_EQ(backend.requests(), 3U);
  EXPECT_FALSE(client_->answer(index).answered);
  respond(backend, 503, "never");
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(client_->answer(index).body, "never");
  EXPECT_EQ(client("503", ""), 3);
  expectTold(503, 3);
}

TEST_P(RuleRetry, ARefusedAnswerThatIsStillComingIsCutOff) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.head(0, {.body = Body::kUntilEnd, .status = 503});
  backend.body(0, "not n");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(backend.request(0).reset);
  passBackoff();
  BackendPeer& next = backendVersion() == Version::kHttp2 ? backend : accept(1);
  respond(next, 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  expectTold(200, 2);
}

TEST_P(RuleRetry, ARefusedAnswerThatBreaksAtOnceIsOneFailure) {
  if (backendVersion() == Version::kHttp2) return;
  Rig& rig = make(1);
  const std::size_t index = get();
  accept(0).wire().deliver("HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.retried, 1);
  passBackoff();
  respond(accept(1), 200, "");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 2);
}

TEST_P(RuleRetry, InterimResponsesOfARefusedAttemptArePassedOn) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.interim(0, 103);
  ASSERT_TRUE(rig.settle());
  respond(backend, 503, "");
  passBackoff();
  respond(backend, 200, "");
  EXPECT_EQ(client_->answer(index).interims, (std::vector<std::uint16_t>{103}));
  EXPECT_EQ(status(index), 200);
}

TEST_P(RuleRetry, AConnectionThatIsRefusedIsTriedAgainWhateverTheMethod) {
  Rig& rig = make();
  const std::size_t index = post();
  send(index, "all of it");
  rig.wire(0).refuse();
  ASSERT_TRUE(rig.settle());
  EXPECT_FALSE(client_->answer(index).answered);
  EXPECT_EQ(rig.budget().requests.count(), 0U) << "who waits out the backoff burdens nobody";
  passBackoff();
  ASSERT_EQ(rig.dialled(), 2U);
  BackendPeer& backend = accept(1);
  EXPECT_EQ(backend.request(0).body, "all of it");
  respond(backend, 200, "");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(client("", "connection_refused", "POST"), 1);
  expectTold(200, 2);
}

TEST_P(RuleRetry, TheLastErrorIsTheAnswer) {
  Rig& rig = make(1);
  const std::size_t index = get();
  rig.wire(0).refuse();
  ASSERT_TRUE(rig.settle());
  passBackoff();
  rig.wire(1).refuse();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kConnectionRefused);
  expectTold(503, 2);
}

TEST_P(RuleRetry, AConnectionThatIsLostUnderARequestIsReplacedForIdempotentOnesOnly) {
  for (const Method method : {Method::kGet, Method::kPut, Method::kPost}) {
    Rig& rig = make();
    const bool idempotent = method != Method::kPost;
    const std::size_t index = ask({.method = method, .target = "/ok"});
    accept(0).wire().reset();
    ASSERT_TRUE(rig.settle());
    passBackoff();
    EXPECT_EQ(rig.dialled(), idempotent ? 2U : 1U);
    if (idempotent) respond(accept(1), 200, "");
    EXPECT_EQ(status(index), idempotent ? 200 : 502);
    expectTold(idempotent ? 200 : 502, idempotent ? 2 : 1);
  }
}

TEST_P(RuleRetry, BackendRequestBoundsEachAttempt) {
  Rig& rig = make(retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.backendRequestTimeout = seconds(2); }));
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  rig.advance(seconds(2));
  rig.advancePast();
  EXPECT_TRUE(backend.request(0).reset);
  EXPECT_TRUE(limited("backendRequest"));
  EXPECT_FALSE(client_->answer(index).answered);
  passBackoff();
  BackendPeer& next = backendVersion() == Version::kHttp2 ? backend : accept(1);
  rig.advanceShortOf(seconds(2) - kBackoff * 5 / 4);
  EXPECT_FALSE(client_->answer(index).answered) << "the second attempt has its own time";
  rig.advance(kBackoff * 5 / 4);
  rig.advancePast();
  EXPECT_EQ(next.requests(), backendVersion() == Version::kHttp2 ? 2U : 1U);
  EXPECT_EQ(status(index), 504);
  EXPECT_EQ(client("", "http_response_timeout"), 2);
  expectTold(504, 2);
}

TEST_P(RuleRetry, AnAttemptMayNotStandStillForLong) {
  Rig& rig = make(retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.attemptIdleTimeout = seconds(2); }));
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  rig.advance(seconds(2));
  rig.advancePast();
  EXPECT_TRUE(backend.request(0).reset);
  EXPECT_TRUE(limited("attemptIdle"));
  EXPECT_FALSE(client_->answer(index).answered);
  passBackoff();
  BackendPeer& next = backendVersion() == Version::kHttp2 ? backend : accept(1);
  rig.advanceShortOf(seconds(2) - kBackoff * 5 / 4);
  respond(next, 200, "late");
  EXPECT_EQ(status(index), 200) << "the second attempt has its own time";
}

TEST_P(RuleRetry, AnAttemptDoesNotStandStillWhileItsClientDoes) {
  Rig& rig = make(retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.attemptIdleTimeout = seconds(2); }));
  const std::size_t index = ask({.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd});
  BackendPeer& backend = accept(0);
  client_->body(index, "some");
  ASSERT_TRUE(rig.settle());
  rig.advance(seconds(5));
  EXPECT_FALSE(limited("attemptIdle")) << "the client owes bytes, and the Backend none";
  EXPECT_FALSE(backend.request(0).reset);
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  rig.advanceShortOf(seconds(2));
  EXPECT_FALSE(backend.request(0).reset);
  rig.advance(seconds(2));
  rig.advancePast();
  EXPECT_TRUE(limited("attemptIdle"));
  EXPECT_TRUE(backend.request(0).reset) << "soon after the client was done";
}

// A stream that was refused earlier does not affect the attempt that was not refused.
TEST_P(RuleRetry, ARepeatedRequestThatExpiresMayHaveBeenActedOn) {
  if (backendVersion() == Version::kHttp11) return;
  Rig& rig = make(retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.backendRequestTimeout = seconds(2); }));
  const std::size_t index = ask({.method = Method::kPost, .target = "/ok"});
  BackendPeer& backend = accept(0);
  backend.reset(0, http::ResetReason::kRefused);
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(backend.requests(), 2U);
  rig.advance(seconds(2));
  rig.advancePast();
  EXPECT_EQ(status(index), 504);
  EXPECT_EQ(rig.retried, 0);
  expectTold(504, 1);
}

TEST_P(RuleRetry, RequestBoundsAllAttemptsTogether) {
  Rig& rig = make(retrying(backendVersion(), 5, [](routing::Rule& rule) { rule.requestTimeout = seconds(1); }));
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  rig.advance(milliseconds(500));
  respond(backend, 503, "");
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  rig.advance(milliseconds(500));
  EXPECT_EQ(status(index), 504);
  EXPECT_TRUE(limited("request"));
  EXPECT_TRUE(backend.request(1).reset);
  expectTold(504, 2);
}

TEST_P(RuleRetry, AnAttemptThatWouldComeTooLateIsNotWaitedFor) {
  Rig& rig = make(retrying(backendVersion(), 5, [](routing::Rule& rule) { rule.requestTimeout = seconds(1); }));
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  rig.advance(milliseconds(950));
  respond(backend, 503, "not now");
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(client_->answer(index).body, "not now");
  expectTold(503, 1);
}

TEST_P(RuleRetry, TheNextAttemptIsMadeAtOnceWithoutABackoff) {
  make(retrying(backendVersion(), 10, [](routing::Rule& rule) { rule.retry->backoff = base::Duration::zero(); }));
  get();
  BackendPeer& backend = accept(0);
  for (std::size_t i = 1; i <= 10; ++i) {
    respond(backend, 503, "");
    ASSERT_EQ(backend.requests(), i + 1);
  }
  respond(backend, 200, "");
  expectTold(200, 11);
}

// The most failures that there can be are one drive, because none of them waits for anything.
TEST_P(RuleRetry, AllAttemptsMayFailAtOnce) {
  RigOptions options =
      retrying(backendVersion(), 10, [](routing::Rule& rule) { rule.retry->backoff = base::Duration::zero(); });
  options.maxRequests = 0;
  make(options);
  const std::size_t index = get();
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(rig_->told[0].error->type, base::ErrorType::kConnectionLimitReached);
  EXPECT_EQ(client("", "connection_limit_reached"), 0) << "the Backend was not asked";
  expectTold(503, 11);
}

TEST_P(RuleRetry, AClientThatLeavesDuringTheBackoffEndsItAll) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "");
  client_->cancel(index);
  client_->wire().reset();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.exchanges.size(), 0U);
  passBackoff();
  EXPECT_EQ(backend.requests(), 1U);
  expectTold(0, 1);
}

TEST_P(RuleRetry, ARequestThatBreaksDuringTheBackoffIsAnsweredWithTheError) {
  if (std::get<0>(GetParam()) == Version::kHttp2) return;
  Rig& rig = make();
  post();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "");
  client_->wire().deliver("zz\r\n");
  ASSERT_TRUE(rig.settle());
  expectTold(400, 1);
}

TEST_P(RuleRetry, AnotherConfigurationDuringTheBackoffChangesNothingForIt) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "");
  rig.adopt("2");
  rig.adopt("3", "another backend");
  passBackoff();
  ASSERT_EQ(rig.dialled(), 2U) << "the Backend of its rule, whose connections went";
  respond(accept(1), 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
}

TEST_P(RuleRetry, ASilentRepeatDoesNotCountAsARetry) {
  Rig& rig = make(1);
  const std::size_t first = get();
  BackendPeer& pooled = accept(0);
  respond(pooled, 200, "");
  EXPECT_EQ(status(first), 200);
  rig.told.clear();
  const std::size_t index = get();
  pooled.wire().reset();  // the kept connection had gone stale
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 2U) << "at once";
  BackendPeer& fresh = accept(1);
  respond(fresh, 503, "");
  EXPECT_FALSE(client_->answer(index).answered);
  passBackoff();
  respond(fresh, 200, "");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.retried, 1);
  expectTold(200, 2);
}

TEST_P(RuleRetry, AnAddressThatTheGuardForbidsIsNotTriedAgain) {
  Rig& rig = make();
  rig.resolver.know(Rig::kHost, {"127.0.0.1"});
  const std::size_t index = get();
  EXPECT_EQ(status(index), 403);
  EXPECT_EQ(rig.retried, 0);
}

// --- weighted backends

/// A rule with two weighted backends, each with a Backend and edits of its own.
RigOptions twoShares(Version backend, std::uint32_t first, std::uint32_t second) {
  return retrying(backend, 2, [=](routing::Rule& made) {
    made.backends[0].weight = first;
    made.backends[0].requestHeaders.emplace().set.push_back({"authorization", "for the first"});
    routing::WeightedBackend& other = made.backends.emplace_back();
    other.weight = second;
    other.requestHeaders.emplace().set.push_back({"x-other", "for the second"});
    routing::BackendPlan plan;
    plan.name = "demo/other";
    plan.identity = "other";
    plan.hostname = "other.test";
    plan.port = 8080;
    plan.authority = "other.test:8080";
    plan.protocol = backend == Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
    other.backend = std::make_shared<routing::BackendPlan>(plan);
  });
}

TEST_P(RuleRetry, AnotherBackendIsPreferredAndSeesNothingThatWasMeantForTheFirst) {
  Rig& rig = make(twoShares(backendVersion(), 1'000'000, 1));
  rig.resolver.know("other.test", {"192.0.2.2"});
  const std::size_t index = get();
  BackendPeer& first = accept(0);
  EXPECT_EQ(first.request(0).message.head.headers.find("authorization")->value, "for the first");
  respond(first, 503, "");
  EXPECT_NE(rig.metricsText().find(
                "http_server_active_requests{gateway=\"demo/egress\",route=\"demo/"
                "route\",backend=\"demo/other\",namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\"} 1"),
            std::string::npos);
  passBackoff();
  ASSERT_EQ(rig.dialled(), 2U);
  BackendPeer& second = accept(1);
  const http::RequestHead& head = second.request(0).message.head;
  EXPECT_EQ(head.authority, "other.test:8080");
  EXPECT_EQ(head.headers.find("authorization"), nullptr);
  EXPECT_EQ(head.headers.find("x-other")->value, "for the second");
  respond(second, 503, "");
  passBackoff(2);
  ASSERT_EQ(first.requests(), 2U) << "both have failed: another than the last";
  EXPECT_EQ(first.request(1).message.head.headers.find("x-other"), nullptr);
  respond(first, 200, "");
  EXPECT_EQ(status(index), 200);
  const std::string page = rig.metricsText();
  for (const char* backend : {"demo/backend", "demo/other"}) {
    EXPECT_NE(page.find("http_server_active_requests{gateway=\"demo/egress\",route=\"demo/route\",backend=\"" +
                        std::string(backend) + "\",namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\"} 0"),
              std::string::npos);
  }
  expectTold(200, 3);
}

TEST_P(RuleRetry, ABackendThatTakesNoConnectionsIsLeftOutUntilItMayHaveRecovered) {
  Rig& rig = make(twoShares(backendVersion(), 1'000'000, 1));
  rig.resolver.know("other.test", {"192.0.2.2"});
  const auto serveByTheOther = [&] {
    const std::size_t index = get();
    BackendPeer& other = rig.backends.empty() ? accept(1) : *rig.backends.front();
    respond(other, 200, "");
    EXPECT_EQ(status(index), 200);
  };
  const std::size_t first = get();
  rig.wire(0).refuse();
  ASSERT_TRUE(rig.settle());
  passBackoff();
  BackendPeer& other = accept(1);
  respond(other, 200, "");
  EXPECT_EQ(status(first), 200);
  for (int i = 0; i < 3; ++i) serveByTheOther();
  EXPECT_EQ(rig.dialled(), 2U) << "nobody asks for the first one";
  rig.advance(std::chrono::milliseconds(500));
  const std::size_t probe = get();
  ASSERT_EQ(rig.dialled(), 3U) << "one request tries again";
  test::ClientPeer* const waiting = std::exchange(client_, &rig.connect(std::get<0>(GetParam())));
  serveByTheOther();
  EXPECT_EQ(rig.dialled(), 3U) << "and only one";
  BackendPeer& recovered = accept(2);
  respond(recovered, 200, "");
  EXPECT_EQ(waiting->answer(probe).message.head.status, 200);
  get();
  EXPECT_EQ(recovered.requests(), 2U);
}

TEST_P(RuleRetry, EveryRequestGoesOnToABackendThatWorksWhateverTheBudgetSays) {
  RigOptions options = twoShares(backendVersion(), 1'000'000, 1);
  options.rule = [made = options.rule](routing::Rule& rule) {
    made(rule);
    rule.retry->backoff = base::Duration::zero();
  };
  Rig& rig = make(options);
  rig.resolver.know("other.test", {"192.0.2.2"});
  const auto ask = [&](BackendPeer* failing, BackendPeer* sound) {
    const std::size_t index = get();
    if (failing == nullptr) failing = &accept(0);
    respond(*failing, 503, "busy");
    rig.advancePast();
    if (sound == nullptr) sound = &accept(1);
    respond(*sound, 200, "");
    EXPECT_EQ(status(index), 200);
  };
  ask(nullptr, nullptr);
  for (int i = 0; i < 99; ++i) ask(rig.backends[0].get(), rig.backends[1].get());
  EXPECT_FALSE(limited("retryBudget"));
}

}  // namespace
}  // namespace sluice::exchange
