// Tests that an exchange names what it waits for in each of its states.
#include "proxy/exchange/exchange_wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/exchange/attempt/rule_retry_fixture.h"
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kManyBytes = std::size_t{4} * 1024 * 1024;

std::string describe(const ExchangeWait& wait) {
  return std::string(waitName(wait.what)) + (wait.where.empty() ? "" : " " + wait.where);
}

/// Returns what each exchange waits for, in the order of the tables of the worker.
std::vector<std::string> waitsOf(Rig& rig) {
  const net::Worker::Turn turn(rig.worker);
  std::vector<std::string> waits;
  rig.exchanges.forEach([&waits](const Exchange& exchange) { waits.push_back(describe(exchange.wait())); });
  return waits;
}

std::string waitIn(Rig& rig) {
  const std::vector<std::string> waits = waitsOf(rig);
  return waits.size() == 1 ? waits[0] : std::to_string(waits.size()) + " exchanges";
}

/// Returns options with a rule that has this step.
RigOptions withStep(const Step& step) {
  RigOptions options;
  options.rule = [step](routing::Rule& rule) {
    rule.chain = std::make_shared<const processing::Chain>(std::vector<Step>{step});
  };
  return options;
}

TEST(ExchangeWaits, HaveDifferentNames) {
  EXPECT_EQ(std::set(kWaitNames.begin(), kWaitNames.end()).size(), kWaits);
  for (const std::string_view name : kWaitNames) EXPECT_FALSE(name.empty());
  EXPECT_EQ(waitName(Wait::kNothing), "nothing");
  EXPECT_EQ(waitName(Wait::kTunnel), "tunnel");
}

TEST(ExchangeWait, IsTheResolverUntilTheNameHasAddresses) {
  Rig rig;
  rig.resolver.forget(Rig::kHost);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "resolver backend.test");
  rig.resolver.know(Rig::kHost, {"192.0.2.1"});
  rig.resolver.answer();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "dial 192.0.2.1:8080");
}

TEST(ExchangeWait, IsTheResolverForStepsThatWantTheAddresses) {
  Rig rig(withStep(step("look", Phase::kConnect, goesOn())));
  rig.resolver.forget(Rig::kHost);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "resolver backend.test");
}

TEST(ExchangeWait, IsTheHandshakeOnceTheAddressIsReached) {
  RigOptions options;
  options.tls = true;
  Rig rig(options);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "dial 192.0.2.1:8080");
  rig.wire(0).beginHandshake();
  EXPECT_EQ(waitIn(rig), "tls-handshake 192.0.2.1:8080");
  rig.accept(0);
  EXPECT_EQ(waitIn(rig), "response-head");
}

TEST(ExchangeWait, IsAConnectionForThoseThatMayNotOpenOne) {
  RigOptions options;
  options.maxConnections = 2;
  Rig rig(options);
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  for (int i = 0; i < 4; ++i) client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  const std::string dial = "dial 192.0.2.1:8080";
  EXPECT_EQ(waitsOf(rig), (std::vector<std::string>{dial, dial, "connection", "connection"}));
  rig.accept(0);
  EXPECT_EQ(waitsOf(rig), (std::vector<std::string>{"response-head", dial, "connection", "connection"}));
  rig.accept(1);
  EXPECT_EQ(waitsOf(rig), (std::vector<std::string>{"response-head", "response-head", "connection", "connection"}));
}

TEST(ExchangeWait, IsTheOneConnectionThatFindsOutTheVersion) {
  RigOptions options;
  options.tls = true;
  options.protocol = routing::UpstreamProtocol::kAuto;
  Rig rig(options);
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  for (int i = 0; i < 3; ++i) client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.wire(0).beginHandshake();
  EXPECT_EQ(waitsOf(rig), std::vector<std::string>(3, "tls-handshake 192.0.2.1:8080"));
}

TEST(ExchangeWait, IsTheBodyThatTheClientHasNotSent) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  const std::size_t asked = client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  client.body(asked, "half");
  ASSERT_TRUE(rig.settle());
  rig.accept(0);
  EXPECT_EQ(waitIn(rig), "request-body");
  client.finish(asked);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "response-head");
}

TEST(ExchangeWait, IsTheBackendAsLongAsTheClientWaitsForItsContinue) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  EXPECT_EQ(waitIn(rig), "response-head");
  backend.interim(0, 100);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "request-body");
}

TEST(ExchangeWait, IsTheBodyThatAStepWantsWhole) {
  Rig rig(withStep(step("read", Phase::kRequestBody, goesOn(), kReadsWhole)));
  test::ClientPeer& client = rig.connect();
  client.body(client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd}), "half");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "request-body");
  EXPECT_EQ(rig.dialled(), 0u);
}

TEST(ExchangeWait, IsEitherSideOfAnRpcWhoseStreamIsOpen) {
  Rig rig(speaking(Version::kHttp2));
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  client.ask({.method = http::Method::kPost,
              .target = "/ok",
              .fields = {{"content-type", "application/grpc"}, {"te", "trailers"}},
              .body = Body::kUntilEnd});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0, Version::kHttp2);
  EXPECT_EQ(waitIn(rig), "either");
  backend.head(0, {.fields = {{"content-type", "application/grpc"}}, .body = Body::kUntilEnd});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "either");
}

TEST(ExchangeWait, IsTheRestOfAResponse) {
  Rig rig;
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "half");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "response-body");
}

TEST(ExchangeWait, IsTheRestOfAResponseThatAStepWantsWhole) {
  Rig rig(withStep(step("read", Phase::kResponseBody, goesOn(), kReadsWhole)));
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "half");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "response-body");
}

class WaitForCredit : public ::testing::TestWithParam<Version> {};
INSTANTIATE_TEST_SUITE_P(Versions, WaitForCredit, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(WaitForCredit, IsTheClientThatReadsNothing) {
  Rig rig;
  test::ClientPeer& client = rig.connect(GetParam());
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  client.wire().allow(0);
  backend.respond(0, 200, std::string(kManyBytes, 'x'));
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "client-credit");
}

TEST_P(WaitForCredit, IsTheBackendThatReadsNothing) {
  for (const std::size_t size : {kManyBytes, std::size_t{1000}}) {
    Rig rig(speaking(GetParam()));
    test::ClientPeer& client = rig.connect();
    const std::size_t asked = client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    ASSERT_TRUE(rig.settle());
    rig.accept(0, GetParam());
    rig.wire(0).allow(0);
    client.body(asked, std::string(size, 'x'));
    client.finish(asked);
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(waitIn(rig), "backend-credit") << "for a body of " << size;
  }
}

TEST(ExchangeWait, IsTheWindowThatTheBackendDoesNotOpen) {
  Rig rig(speaking(Version::kHttp2));
  test::ClientPeer& client = rig.connect();
  const std::size_t asked = client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  ASSERT_TRUE(rig.settle());
  rig.accept(0, Version::kHttp2).grants = false;
  client.body(asked, std::string(kManyBytes, 'x'));
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "backend-credit");
}

TEST(ExchangeWait, IsTheClientThatDoesNotTakeALocalReply) {
  Rig rig;
  http::Limits noWindow;
  noWindow.firstWindow = noWindow.streamWindow = 0;
  test::ClientPeer& client = rig.connect(Version::kHttp2, noWindow);
  client.ask({.target = "/broken"});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "client-credit");
}

TEST(ExchangeWait, IsThePauseBeforeTheNextAttempt) {
  Rig rig(retrying(Version::kHttp11, 2));
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.accept(0).respond(0, 503, "busy");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "backoff");
}

TEST(ExchangeWait, IsEitherEndOfATunnel) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok",
              .fields = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}, {"sec-websocket-version", "13"}},
              .body = Body::kTunnel});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  EXPECT_EQ(waitIn(rig), "response-head");
  backend.head(
      0, {.fields = {{"sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}}, .body = Body::kTunnel, .status = 101});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(waitIn(rig), "tunnel");
}

}  // namespace
}  // namespace sluice::exchange
