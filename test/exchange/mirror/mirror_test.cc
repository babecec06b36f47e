// Tests the copies of requests that go to the Backends of RequestMirror filters: their content, their bounds, and that
// they never affect the request itself.
#include "proxy/exchange/mirror/mirror.h"

#include <gtest/gtest.h>

#include <tuple>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::seconds;
using test::BackendPeer;
using test::HeadSpec;
using test::Rig;
using test::RigOptions;

std::shared_ptr<const routing::BackendPlan> mirrorPlan(Version version, const std::string& name = "mirror") {
  routing::BackendPlan plan;
  plan.name = "demo/" + name;
  plan.identity = name;
  plan.hostname = name + ".test";
  plan.port = 8080;
  plan.authority = name + ".test:8080";
  plan.protocol = version == Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
  return std::make_shared<routing::BackendPlan>(plan);
}

/// Clients and mirrors are of either version; the Backend speaks HTTP/1.1. The Backend's connection is the first, and
/// that of the mirror the second.
class Mirrored : public ::testing::TestWithParam<std::tuple<Version, Version>> {
 protected:
  using Change = std::function<void(routing::Rule&)>;
  Rig& make(RigOptions options = {}, const Change& change = {}) {
    options.rule = [this, change](routing::Rule& rule) {
      rule.mirrors.push_back({mirrorPlan(mirrorVersion()), 1, 1});
      if (change) change(rule);
    };
    rig_.emplace(options);
    rig_->resolver.know("mirror.test", {"192.0.2.9"});
    client_ = &rig_->connect(std::get<0>(GetParam()));
    return *rig_;
  }
  Version mirrorVersion() const { return std::get<1>(GetParam()); }
  std::size_t ask(const HeadSpec& spec) {
    const std::size_t index = client_->ask(spec);
    EXPECT_TRUE(rig_->settle());
    return index;
  }
  std::size_t get() { return ask({.target = "/ok"}); }
  std::size_t post() { return ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd}); }
  /// Returns the number of the connection that leads to that address.
  std::size_t wireTo(const std::string& ip) {
    for (std::size_t i = 0; i < rig_->dialled(); ++i) {
      if (rig_->wire(i).address().ip() == ip && !rig_->wire(i).over()) return i;
    }
    ADD_FAILURE() << "no connection to " << ip;
    return 0;
  }
  BackendPeer& backend() { return rig_->accept(wireTo("192.0.2.1")); }
  BackendPeer& mirror() { return rig_->accept(wireTo("192.0.2.9"), mirrorVersion()); }
  void respond(BackendPeer& peer, std::uint16_t status, std::string_view text) {
    peer.respond(peer.requests() - 1, status, text);
    EXPECT_TRUE(rig_->settle());
  }
  void expectAllGone() {
    EXPECT_EQ(rig_->exchanges.size(), 0U);
    EXPECT_EQ(rig_->exchanges.mirrors().size(), 0U);
    EXPECT_EQ(rig_->budgets.join("mirror").requests.count(), 0U);
    rig_->close();
    EXPECT_EQ(rig_->worker.chunks().inUse(), 0U);
  }
  bool metric(const std::string& labels, const std::string& value, const std::string& method = "GET") const {
    const std::string line =
        "http_client_request_duration_seconds_count{gateway=\"demo/egress\",route=\"demo/route\","
        "backend=\"demo/mirror\",namespace=\"\",serviceAccount=\"\",http_request_method=\"" +
        method + "\"," + labels + "} " + value + "\n";
    return rig_->metricsText().find(line) != std::string::npos;
  }
  bool limited(const std::string& limit) const {
    return rig_->metricsText().find("sluice_limit_hits_total{limit=\"" + limit + "\"} ") != std::string::npos;
  }

  std::optional<Rig> rig_;
  test::ClientPeer* client_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Versions, Mirrored,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Mirrored, TheMirrorGetsItsOwnCopyAndItsAnswerIsDiscarded) {
  make({}, [](routing::Rule& rule) {
    rule.requestHeaders.emplace().set.push_back({"x-rule", "for all"});
    rule.backends[0].requestHeaders.emplace().set.push_back({"authorization", "for the backend"});
  });
  const std::size_t index =
      ask({.method = Method::kPost, .target = "/ok/a?b=1", .fields = {{"x-a", "b"}}, .body = Body::kUntilEnd});
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  client_->body(index, "the body");
  client_->finish(index, {{"x-sum", "1"}});
  ASSERT_TRUE(rig_->settle());
  for (BackendPeer* peer : {&origin, &copy}) {
    ASSERT_EQ(peer->requests(), 1U);
    const auto& got = peer->request(0);
    EXPECT_EQ(got.message.head.method, Method::kPost);
    EXPECT_EQ(got.message.head.target, "/ok/a?b=1");
    EXPECT_EQ(got.message.head.headers.find("x-a")->value, "b");
    EXPECT_EQ(got.message.head.headers.find("x-rule")->value, "for all");
    EXPECT_EQ(got.body, "the body");
    EXPECT_EQ(got.trailers, (test::FieldList{{"x-sum", "1"}}));
    EXPECT_TRUE(got.ended);
  }
  EXPECT_EQ(copy.request(0).message.head.authority, "mirror.test:8080");
  EXPECT_EQ(copy.request(0).message.head.headers.find("authorization"), nullptr) << "meant for the Backend alone";
  respond(copy, 500, std::string(600'000, 'x'));
  respond(origin, 200, "hello");
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_EQ(rig_->told.size(), 1U);
  EXPECT_EQ(rig_->mirrored, 1);
  EXPECT_TRUE(metric("http_response_status_code=\"500\",error_type=\"\"", "1", "POST"));
  expectAllGone();
}

TEST_P(Mirrored, TheCallerOfTheRequestIsThatOfItsCopy) {
  Rig& rig = make();
  rig.caller = std::make_shared<const base::Caller>(base::Caller{"team", "bot", "", base::Assurance::kCertificate});
  get();
  BackendPeer& origin = backend();
  respond(mirror(), 200, "discarded");
  respond(origin, 200, "hello");
  EXPECT_NE(rig.metricsText().find("http_client_request_duration_seconds_count{gateway=\"demo/egress\",route="
                                   "\"demo/route\",backend=\"demo/mirror\",namespace=\"team\",serviceAccount=\"bot\""),
            std::string::npos);
  expectAllGone();
}

TEST_P(Mirrored, AKeptConnectionServesTheNextCopy) {
  Rig& rig = make();
  for (int i = 0; i < 3; ++i) {
    get();
    if (i == 0) backend(), mirror();
    for (const auto& peer : rig.backends) respond(*peer, 200, "answer");
  }
  EXPECT_EQ(rig.dialled(), 2U);
  EXPECT_TRUE(metric("http_response_status_code=\"200\",error_type=\"\"", "3"));
  expectAllGone();
}

TEST_P(Mirrored, ARequestDoesNotWaitForAMirrorThatDoesNotAnswer) {
  Rig& rig = make();
  const std::size_t index = get();
  respond(backend(), 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_EQ(rig.exchanges.size(), 0U);
  EXPECT_EQ(rig.exchanges.mirrors().size(), 1U) << "its connection is still being made";
  BackendPeer& copy = mirror();
  ASSERT_EQ(copy.requests(), 1U);
  rig.advanceShortOf(seconds(300));
  EXPECT_EQ(rig.exchanges.mirrors().size(), 1U);
  rig.advancePast();
  EXPECT_TRUE(copy.request(0).reset);
  EXPECT_TRUE(metric("http_response_status_code=\"\",error_type=\"http_response_timeout\"", "1"));
  expectAllGone();
}

TEST_P(Mirrored, TheTimesOfTheRuleBoundItToo) {
  for (const bool whole : {true, false}) {
    Rig& rig = make({}, [whole](routing::Rule& rule) {
      whole ? void(rule.requestTimeout = seconds(3)) : void(rule.backendRequestTimeout = seconds(3));
    });
    get();
    respond(backend(), 200, "");
    mirror();
    rig.advanceShortOf(seconds(3));
    EXPECT_EQ(rig.exchanges.mirrors().size(), 1U);
    rig.advancePast();
    expectAllGone();
  }
}

TEST_P(Mirrored, ADeadMirrorDoesNotFailTheRequest) {
  Rig& rig = make();
  const std::size_t index = get();
  rig.wire(wireTo("192.0.2.9")).refuse();
  ASSERT_TRUE(rig.settle());
  respond(backend(), 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_FALSE(rig.told[0].error);
  EXPECT_TRUE(metric("http_response_status_code=\"\",error_type=\"connection_refused\"", "1"));
  expectAllGone();
}

TEST_P(Mirrored, AMirrorThatBreaksOffDoesNotFailTheRequest) {
  Rig& rig = make();
  const std::size_t index = post();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  client_->body(index, "some");
  ASSERT_TRUE(rig.settle());
  copy.wire().reset();
  ASSERT_TRUE(rig.settle());
  client_->body(index, " more");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(origin.request(0).body, "some more");
  respond(origin, 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_TRUE(metric("http_response_status_code=\"\",error_type=\"connection_terminated\"", "1", "POST"));
  expectAllGone();
}

TEST_P(Mirrored, ASlowMirrorIsDroppedAtTheBoundWhileTheUploadGoesOn) {
  for (const bool within : {true, false}) {
    RigOptions options;
    options.bounds.exchangeBuffer = 100'000;
    Rig& rig = make(options);
    const std::size_t index = post();
    BackendPeer& origin = backend();  // the mirror's connection is never accepted
    const std::string body(within ? 100'000 : 100'001, 'x');
    client_->body(index, body);
    client_->finish(index);
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(origin.request(0).body.size(), body.size());
    EXPECT_EQ(limited("exchangeBuffer"), !within);
    EXPECT_EQ(rig.exchanges.mirrors().size(), within ? 1U : 0U);
    respond(origin, 200, "");
    EXPECT_EQ(client_->answer(index).message.head.status, 200);
    if (within) {
      BackendPeer& copy = mirror();
      EXPECT_EQ(copy.request(0).body.size(), body.size());
      respond(copy, 200, "");
    }
    expectAllGone();
  }
}

TEST_P(Mirrored, AClientThatLeavesTakesItsMirrorsWithIt) {
  for (const bool whole : {true, false}) {
    Rig& rig = make();
    const std::size_t index = post();
    backend();
    BackendPeer& copy = mirror();
    client_->body(index, "begun");
    if (whole) client_->finish(index);
    ASSERT_TRUE(rig.settle());
    client_->wire().reset();
    ASSERT_TRUE(rig.settle());
    EXPECT_TRUE(copy.request(0).reset);
    expectAllGone();
  }
}

// The end of the request is not known, so the copy must not look whole.
TEST_P(Mirrored, ARequestThatIsCutShortCutsItsMirrors) {
  Rig& rig = make();
  const std::size_t index = post();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  client_->body(index, "begun");
  ASSERT_TRUE(rig.settle());
  origin.wire().reset();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client_->answer(index).message.head.status, 502);
  client_->body(index, " and ended");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_FALSE(copy.request(0).ended);
  EXPECT_TRUE(copy.request(0).reset);
  expectAllGone();
}

// The remaining bytes come while the answer still waits to be taken, and are dropped.
TEST_P(Mirrored, ARequestWhoseRestIsDroppedCutsItsMirrors) {
  Rig& rig = make();
  http::Limits narrow;
  narrow.streamWindow = 0;
  client_ = &rig.connect(Version::kHttp2, narrow);
  const std::size_t index = post();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  client_->body(index, "begun");
  ASSERT_TRUE(rig.settle());
  origin.wire().reset();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client_->answer(index).message.head.status, 502);
  ASSERT_EQ(rig.exchanges.size(), 1U);
  client_->body(index, " and ended");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(copy.request(0).body, "begun");
  EXPECT_FALSE(copy.request(0).ended);
  rig.advance(seconds(301));
  expectAllGone();
}

TEST_P(Mirrored, AMirrorThatAnswersEarlyGetsNoMoreOfTheBody) {
  Rig& rig = make();
  const std::size_t index = post();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  respond(copy, 413, "too much");
  EXPECT_EQ(rig.exchanges.mirrors().size(), 0U);
  client_->body(index, "the body");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  respond(origin, 200, "");
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  expectAllGone();
}

TEST_P(Mirrored, AFullMirrorIsLeftOut) {
  RigOptions options;
  options.maxRequests = 1;
  Rig& rig = make(options);
  const std::size_t first = get();
  BackendPeer& origin = backend();
  mirror();
  respond(origin, 200, "");
  EXPECT_EQ(client_->answer(first).message.head.status, 200);
  const std::size_t second = get();  // the first copy is still under way
  EXPECT_TRUE(limited("backendRequests"));
  respond(origin, 200, "hello");
  EXPECT_EQ(client_->answer(second).body, "hello");
  EXPECT_EQ(rig.exchanges.mirrors().size(), 1U);
}

TEST_P(Mirrored, ACopyNeverTakesTheRoomOfTheRequestItself) {
  RigOptions options;
  options.maxRequests = 1;
  Rig& rig = make(options, [](routing::Rule& rule) { rule.mirrors[0].backend = rule.backends[0].backend; });
  const std::size_t index = get();
  respond(rig.accept(0), 200, "hello");
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_TRUE(limited("backendRequests")) << "the copy is what is left out";
}

TEST_P(Mirrored, SeveralMirrorsGetACopyEach) {
  Rig& rig = make({}, [this](routing::Rule& rule) {
    rule.mirrors.push_back({mirrorPlan(mirrorVersion(), "second"), 1, 1});
    rule.backends[0].mirrors.push_back({mirrorPlan(mirrorVersion(), "share"), 1, 1});
  });
  rig.resolver.know("second.test", {"192.0.2.10"});
  rig.resolver.know("share.test", {"192.0.2.11"});
  get();
  for (const char* ip : {"192.0.2.9", "192.0.2.10", "192.0.2.11"}) {
    BackendPeer& copy = rig.accept(wireTo(ip), mirrorVersion());
    ASSERT_EQ(copy.requests(), 1U);
    respond(copy, 200, "");
  }
  respond(backend(), 200, "");
  EXPECT_EQ(rig.mirrored, 3);
  expectAllGone();
}

TEST_P(Mirrored, OnlyTheWantedPercentageIsCopied) {
  for (const std::uint32_t numerator : {0U, 1U, 100U}) {
    Rig& rig = make({}, [numerator](routing::Rule& rule) {
      rule.mirrors[0].numerator = numerator, rule.mirrors[0].denominator = 100;
    });
    for (int i = 0; i < 60; ++i) {
      get();
      if (i == 0) backend();
      respond(*rig.backends[0], 200, "");
    }
    const std::size_t copies = rig.exchanges.mirrors().size();
    if (numerator == 0) {
      EXPECT_EQ(copies, 0U);
    }
    if (numerator == 1) {
      EXPECT_LT(copies, 10U);
    }
    if (numerator == 100) {
      EXPECT_EQ(copies, 60U);
    }
  }
}

TEST_P(Mirrored, ARequestWithALocalReplyIsNotCopied) {
  Rig& rig = make();
  ask({.target = "/broken"});
  ask({.target = "/nowhere"});
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(rig.exchanges.mirrors().size(), 0U);
}

TEST_P(Mirrored, ARetryIsNotCopiedAgain) {
  Rig& rig = make({}, [](routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 2;
  });
  const std::size_t index = get();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  respond(origin, 503, "");
  respond(origin, 200, "");
  EXPECT_EQ(client_->answer(index).message.head.status, 200);
  EXPECT_EQ(copy.requests(), 1U);
  respond(copy, 200, "");
  EXPECT_EQ(rig.mirrored, 1);
  expectAllGone();
}

TEST_P(Mirrored, ACopyUnderWayEndsByItsOwnRules) {
  Rig& rig = make();
  get();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  respond(origin, 200, "");
  rig.adopt("2", "another backend");
  rig.adopt("3");
  respond(copy, 200, "late");
  EXPECT_TRUE(metric("http_response_status_code=\"200\",error_type=\"\"", "1"));
  expectAllGone();
}

// The copy is made after the snapshot of its rule has gone, and is still under way when the exchange that kept the rule
// is over.
TEST_P(Mirrored, ACopyOfALaterAttemptEndsByItsOwnRulesToo) {
  Rig& rig = make({}, [](routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 1;
    rule.retry->backoff = seconds(1);
    rule.backends.push_back(rule.backends[0]);
    for (routing::WeightedBackend& backend : rule.backends) backend.mirrors = rule.mirrors;
    rule.mirrors.clear();
  });
  const std::size_t index = get();
  BackendPeer& origin = backend();
  BackendPeer& copy = mirror();
  respond(copy, 200, "");
  respond(origin, 503, "");
  rig.adopt("2", "another backend");
  rig.advance(seconds(2));
  BackendPeer& other = backend();
  BackendPeer& later = mirror();
  respond(other, 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_EQ(rig.exchanges.size(), 0U);
  respond(later, 200, "late");
  EXPECT_TRUE(metric("http_response_status_code=\"200\",error_type=\"\"", "2"));
  expectAllGone();
}

TEST_P(Mirrored, TheEndOfTheProgramDoesNotWaitForThem) {
  Rig& rig = make();
  get();
  respond(backend(), 200, "");
  mirror();
  EXPECT_EQ(rig.exchanges.mirrors().size(), 1U);
  rig.close();
  EXPECT_EQ(rig.exchanges.mirrors().size(), 0U);
  EXPECT_EQ(rig.worker.chunks().inUse(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
