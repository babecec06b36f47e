// The requests that the gateway makes for itself: they send, hand over and are bounded, and destroying one leaves
// nothing behind.
#include "proxy/upstream/async_request.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

/// Records the calls of its request, and reads the response's body at once unless a test stops it.
class Asker final : private AsyncRequestOwner {
 public:
  explicit Asker(PoolRig& rig, const AsyncRequestTimes& times = {seconds(60), {}, {}})
      : rig_(rig),
        request(std::make_unique<AsyncRequest>(*rig.upstreams, static_cast<AsyncRequestOwner&>(*this), times)) {
    head.authority = "backend.test:8080";
    head.target = "/v1";
  }

  bool enter() { return request->enter(rig_.plan); }
  void start(http::Body kind = http::Body::kNone) {
    const net::Worker::Turn turn(rig_.worker);
    head.body = kind;
    if (kind != http::Body::kNone) head.method = http::Method::kPost;
    if (kind != http::Body::kNone) head.methodText = "POST";
    EXPECT_TRUE(enter());
    request->start(head);
  }
  void send(std::string_view bytes, bool end = true) {
    const net::Worker::Turn turn(rig_.worker);
    request->body().bytes.append(bytes);
    if (end) request->body().finish();
    request->wake();
  }
  void drop() {
    const net::Worker::Turn turn(rig_.worker);
    request.reset();
  }

 private:
  void onAddresses() override { ++addressesTold; }
  void onResponse(http::ResponseMessage&& message) override { status = message.head.status; }
  void onResponseBody(std::string_view bytes) override {
    body += bytes;
    if (refuses) request->fail(base::Error::internal("it is too much"));
    if (takes) request->grant(bytes.size());
  }
  void onRequestTaken() override { ++taken; }
  void onResponseEnd(std::optional<http::Trailers> its) override {
    ++ends;
    if (its) trailers = test::fieldList(its->fields);
  }
  void onFailed(const base::Error& why) override {
    ++ends;
    error = why;
  }

  PoolRig& rig_;

 public:
  http::RequestHead head;
  std::unique_ptr<AsyncRequest> request;
  bool takes = true;
  bool refuses = false;  // fails its request as soon as it gets bytes
  std::uint16_t status = 0;
  std::string body;
  test::FieldList trailers;
  int addressesTold = 0;
  int taken = 0;
  int ends = 0;
  std::optional<base::Error> error;
};

class OwnRequests : public ::testing::TestWithParam<Version> {
 protected:
  OwnRequests() : rig({.protocol = protocol()}) {}
  ~OwnRequests() override { EXPECT_EQ(rig.budget().requests.count(), 0U) << "every place is given back"; }
  static routing::UpstreamProtocol protocol() {
    return GetParam() == Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
  }
  test::BackendPeer& accept() { return rig.accept(0, GetParam()); }
  /// Returns a Backend whose connection has served a request, and is idle.
  test::BackendPeer& acceptAndRest() {
    Asker first(rig);
    first.start();
    test::BackendPeer& backend = accept();
    backend.respond(0, 200, "");
    rig.settle();
    first.drop();
    return backend;
  }
  /// Makes another request. Returns how many connections were made by then.
  std::size_t dialledWithAnother() {
    Asker caller(rig);
    caller.start();
    rig.settle();
    caller.drop();
    return rig.dialled();
  }

  PoolRig rig;
};

INSTANTIATE_TEST_SUITE_P(Versions, OwnRequests, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(OwnRequests, SendTheirBodyAndHandOverTheResponse) {
  Asker caller(rig);
  caller.start(http::Body::kUntilEnd);
  EXPECT_FALSE(caller.request->attempted());
  test::BackendPeer& backend = accept();
  caller.send("how ", false);
  caller.send("much?");
  rig.settle();
  ASSERT_EQ(backend.requests(), 1U);
  EXPECT_TRUE(caller.request->attempted());
  EXPECT_EQ(backend.request(0).body, "how much?");
  EXPECT_TRUE(backend.request(0).ended);
  EXPECT_GT(caller.taken, 0);
  backend.head(0, {.body = http::Body::kUntilEnd, .status = 201});
  backend.body(0, "forty");
  rig.settle();
  EXPECT_EQ(caller.status, 201);
  EXPECT_EQ(caller.body, "forty");
  EXPECT_EQ(caller.ends, 0);
  backend.finish(0, {{"grpc-status", "0"}});
  rig.settle();
  EXPECT_EQ(caller.ends, 1);
  EXPECT_FALSE(caller.error);
  EXPECT_EQ(caller.trailers, (test::FieldList{{"grpc-status", "0"}}));
  caller.drop();
}

TEST_P(OwnRequests, UseOneConnectionOneAfterTheOther) {
  for (int round = 0; round < 3; ++round) {
    Asker caller(rig);
    caller.start();
    if (round == 0) accept();
    rig.settle();
    rig.backends[0]->respond(static_cast<std::size_t>(round), 200, "ok");
    rig.settle();
    EXPECT_EQ(caller.body, "ok");
    caller.drop();
  }
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST_P(OwnRequests, AreToldThatTheBackendRefuses) {
  Asker caller(rig);
  caller.start();
  rig.wire(0).refuse();
  rig.settle();
  ASSERT_TRUE(caller.error);
  EXPECT_EQ(caller.error->type, base::ErrorType::kConnectionRefused);
  EXPECT_TRUE(caller.request->attempted());
  EXPECT_EQ(caller.ends, 1);
  EXPECT_TRUE(caller.request->over());
  caller.drop();
}

TEST_P(OwnRequests, AreToldThatTheConnectionIsLost) {
  Asker caller(rig);
  caller.start();
  accept().head(0, {.body = http::Body::kLength, .length = 10});
  rig.settle();
  rig.wire(0).reset();
  rig.settle();
  EXPECT_EQ(caller.status, 200);
  ASSERT_TRUE(caller.error);
  EXPECT_EQ(caller.error->type, base::ErrorType::kConnectionTerminated);
  EXPECT_EQ(caller.ends, 1);
  caller.drop();
}

TEST_P(OwnRequests, AreSentOnceMoreOverAConnectionThatHasGoneStale) {
  acceptAndRest();
  Asker caller(rig);
  rig.wire(0).allow(0);
  caller.start();
  rig.wire(0).reset();
  rig.settle();
  ASSERT_EQ(rig.dialled(), 2U);
  test::BackendPeer& next = rig.accept(1, GetParam());
  ASSERT_EQ(next.requests(), 1U);
  next.respond(0, 200, "ok");
  rig.settle();
  EXPECT_EQ(caller.body, "ok");
  EXPECT_FALSE(caller.error);
  caller.drop();
}

TEST_P(OwnRequests, ThatAreSentOnceMoreInVainHaveNoPeer) {
  acceptAndRest();
  Asker caller(rig);
  rig.wire(0).allow(0);
  caller.start();
  rig.wire(0).reset();
  rig.wire(1).refuse();
  EXPECT_TRUE(caller.error);
  EXPECT_EQ(caller.request->peer(), nullptr) << "the address that it went to at first has not refused it";
  caller.drop();
}

// Its owner would mistake the second answer for a part of the first one.
TEST_P(OwnRequests, AreNotSentOnceMoreIfTheirAnswerHasBegun) {
  test::BackendPeer& backend = acceptAndRest();
  Asker caller(rig);
  caller.start();
  rig.settle();
  ASSERT_EQ(backend.requests(), 2U);
  backend.head(1, {.body = http::Body::kUntilEnd});
  backend.body(1, "begun");
  rig.settle();
  EXPECT_EQ(caller.body, "begun");
  rig.wire(0).reset();
  rig.settle();
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(caller.ends, 1);
  EXPECT_EQ(caller.error->type, base::ErrorType::kConnectionTerminated);
  caller.drop();
}

TEST_P(OwnRequests, ThatWereNotBegunAreSentAgainAFewTimes) {
  Asker caller(rig);
  caller.start();
  test::BackendPeer& backend = accept();
  // HTTP/1.1 has no way to report that a request was not begun.
  const std::size_t times = GetParam() == Version::kHttp2 ? kMostRepeats + 1 : 1;
  for (std::size_t i = 0; i < times; ++i) {
    EXPECT_FALSE(caller.error);
    ASSERT_EQ(backend.requests(), i + 1);
    backend.reset(i, http::ResetReason::kRefused);
    rig.settle();
  }
  EXPECT_EQ(backend.requests(), times);
  EXPECT_TRUE(caller.error);
  EXPECT_EQ(caller.ends, 1);
  caller.drop();
}

TEST_P(OwnRequests, LeaveNothingBehindWhenTheyGoWhileTheyWait) {
  Asker caller(rig);
  caller.start();
  caller.drop();
  test::BackendPeer& backend = accept();
  EXPECT_EQ(backend.requests(), 0U);
  EXPECT_EQ(caller.ends, 0);
}

TEST_P(OwnRequests, CutTheirStreamWhenTheyGo) {
  Asker caller(rig);
  caller.start();
  test::BackendPeer& backend = accept();
  backend.head(0, {.body = http::Body::kLength, .length = 10});
  rig.settle();
  caller.drop();
  rig.settle();
  EXPECT_TRUE(backend.request(0).reset);
  EXPECT_EQ(rig.wire(0).over(), GetParam() == Version::kHttp11) << "HTTP/2 cuts the stream alone";
  EXPECT_EQ(caller.ends, 0);
}

TEST_P(OwnRequests, GetNoMoreThanTheyTake) {
  Asker caller(rig);
  caller.takes = false;
  caller.start();
  test::BackendPeer& backend = accept();
  const std::string much(4 * http::Limits{}.streamWindow, 'x');
  backend.respond(0, 200, much);
  rig.settle();
  const std::size_t first = caller.body.size();
  EXPECT_GT(first, 0U);
  EXPECT_LE(first, 2 * http::Limits{}.streamWindow);
  caller.takes = true;
  {
    const net::Worker::Turn turn(rig.worker);
    caller.request->grant(first);
  }
  rig.settle();
  EXPECT_EQ(caller.body.size(), much.size());
  EXPECT_EQ(caller.ends, 1);
  caller.drop();
}

TEST_P(OwnRequests, AreDoneWithAnAnswerThatComesEarly) {
  Asker caller(rig);
  caller.start(http::Body::kUntilEnd);
  test::BackendPeer& backend = accept();
  caller.send("half", false);
  rig.settle();
  backend.respond(0, 413, "no");
  rig.settle();
  EXPECT_EQ(caller.status, 413);
  EXPECT_EQ(caller.ends, 1);
  EXPECT_FALSE(caller.error);
  EXPECT_EQ(rig.budget().requests.count(), 0U);
  caller.drop();
}

TEST_P(OwnRequests, HaveATimeAsAWhole) {
  Asker caller(rig, {seconds(60), seconds(5), {}});
  caller.start();
  rig.advance(seconds(4));
  EXPECT_EQ(caller.ends, 0);
  rig.advance(seconds(2));
  ASSERT_TRUE(caller.error);
  EXPECT_EQ(caller.error->type, base::ErrorType::kHttpResponseTimeout);
  caller.drop();
}

TEST_P(OwnRequests, HaveATimeFromTheirSendingOn) {
  Asker caller(rig, {seconds(60), {}, seconds(5)});
  caller.start();
  rig.advance(seconds(4));
  test::BackendPeer& backend = accept();
  rig.advance(seconds(4));
  EXPECT_EQ(caller.ends, 0) << "it waited for a connection for as long";
  rig.advance(seconds(2));
  ASSERT_TRUE(caller.error);
  EXPECT_EQ(caller.error->type, base::ErrorType::kHttpResponseTimeout);
  rig.settle();
  EXPECT_TRUE(backend.request(0).reset);
  caller.drop();
}

TEST_P(OwnRequests, EndWhenNothingMoves) {
  Asker caller(rig, {seconds(10), {}, {}});
  caller.start();
  test::BackendPeer& backend = accept();
  backend.head(0, {.body = http::Body::kUntilEnd});
  for (int i = 0; i < 4; ++i) {
    rig.advance(seconds(8));
    backend.body(0, ".");
    rig.settle();
  }
  EXPECT_EQ(caller.ends, 0);
  rig.advance(seconds(11));
  EXPECT_TRUE(caller.error);
  caller.drop();
}

TEST_P(OwnRequests, AvoidAConnectionOnWhichOneHasTimedOut) {
  Asker caller(rig, {seconds(10), {}, {}});
  caller.start();
  accept().reads = false;
  rig.advance(seconds(11));
  ASSERT_TRUE(caller.error);
  caller.drop();
  EXPECT_EQ(dialledWithAnother(), 2U);
}

TEST_P(OwnRequests, ThatFailWhileTheirAnswerComesAreToldOnce) {
  Asker caller(rig);
  caller.refuses = true;
  caller.start();
  accept().respond(0, 200, "the whole answer");
  rig.settle();
  EXPECT_EQ(caller.ends, 1);
  ASSERT_TRUE(caller.error);
  EXPECT_EQ(caller.error->detail, "it is too much");
  caller.drop();
  EXPECT_EQ(dialledWithAnother(), 1U) << "nothing of the answer was left";
}

TEST_P(OwnRequests, AreToldWhenAddressesMayBeAskedForAgain) {
  rig.resolver.forget(PoolRig::kHost);
  Asker caller(rig);
  {
    const net::Worker::Turn turn(rig.worker);
    ASSERT_TRUE(caller.enter());
    const auto unknown = caller.request->resolve();
    ASSERT_TRUE(unknown.ok());
    EXPECT_TRUE(unknown->empty());
  }
  rig.resolver.know(PoolRig::kHost, {"192.0.2.7"});
  rig.resolver.answer();
  EXPECT_EQ(caller.addressesTold, 1);
  const auto known = caller.request->resolve();
  ASSERT_TRUE(known.ok());
  ASSERT_EQ(known->size(), 1U);
  EXPECT_EQ(known->front().ip(), "192.0.2.7");
  caller.drop();
}

TEST(OwnRequestsBound, HaveNoPlaceBeyondTheBoundOfRequests) {
  PoolRig rig;
  Asker caller(rig);
  while (rig.budget().requests.tryAdd()) {
  }
  EXPECT_FALSE(caller.enter());
  EXPECT_FALSE(caller.request->attempted());
  EXPECT_TRUE(rig.counted("sluice_limit_hits_total{limit=\"backendRequests\"} 1"));
  caller.drop();
}

/// Another worker, whose clients may give way.
class OtherWorker final : public PlaceParty {
 public:
  std::vector<std::shared_ptr<const PlaceAsk>> asks;
  int connectionsWanted = 0;

 private:
  void onConnectionWanted(const routing::BackendIdentity& /*boundedAs*/) override { ++connectionsWanted; }
  void onAsked(std::shared_ptr<const PlaceAsk> ask) override { asks.push_back(std::move(ask)); }
};

TEST(OwnRequestsBound, WaitForPlacesThatOtherWorkersMayGiveUp) {
  PoolRig rig;
  OtherWorker other;
  rig.budgets.enroll(other);
  while (rig.budget().requests.tryAdd()) {
  }
  for (const bool gives : {true, false}) {
    Asker caller(rig);
    caller.start();
    EXPECT_EQ(caller.ends, 0);
    EXPECT_EQ(rig.budget().seeking.load(), 1U);
    rig.advance(2 * Places::kInterval);
    ASSERT_FALSE(other.asks.empty());
    EXPECT_EQ(other.asks.back()->wishes().front().client, net::kOwnNetwork);
    EXPECT_EQ(other.asks.back()->wishes().front().held, 0U);
    // It has counted, too.
    rig.budget().reports.put(other, {{7, 1024}}, rig.clock.now());
    rig.advance(2 * Places::kInterval);
    EXPECT_EQ(caller.ends, 0);
    if (gives) {
      rig.budget().requests.release();
      rig.advance(2 * Places::kInterval);
      EXPECT_EQ(rig.dialled(), 1U);
    } else {
      rig.budget().reports.put(other, {{7, 1}}, rig.clock.now());
      rig.advance(2 * Places::kInterval);
      EXPECT_EQ(caller.ends, 1) << "there is nobody to give way";
      EXPECT_EQ(caller.error->limit, "backendRequests");
    }
    EXPECT_EQ(rig.budget().seeking.load(), 0U);
    caller.drop();
    if (gives) rig.budget().requests.add();
  }
  rig.budgets.withdraw(other);
}

TEST(OwnRequestsBound, OfOneClientWaitForAFewPlacesAtOnce) {
  PoolRig rig;
  OtherWorker other;
  rig.budgets.enroll(other);
  while (rig.budget().requests.tryAdd()) {
  }
  std::vector<std::unique_ptr<Asker>> callers;
  for (std::size_t i = 0; i < Places::kMostOfClient; ++i) {
    callers.push_back(std::make_unique<Asker>(rig));
    callers.back()->start();
  }
  Asker last(rig);
  EXPECT_FALSE(last.enter());
  last.drop();
  for (const auto& each : callers) each->drop();
  EXPECT_EQ(rig.budget().seeking.load(), 0U);
  rig.budgets.withdraw(other);
}

// All connections but one are those of another worker, where some may be idle.
TEST(OwnRequestsBound, HaveOtherWorkersCloseConnectionsThatAreIdle) {
  PoolRig rig({.maxConnections = 2});
  OtherWorker other;
  rig.budgets.enroll(other);
  EXPECT_TRUE(rig.budget().connections.tryAdd());
  Asker first(rig);
  first.start();
  rig.accept(0);
  EXPECT_EQ(other.connectionsWanted, 0);
  Asker second(rig);
  second.start();
  EXPECT_EQ(other.connectionsWanted, 1);
  rig.advance(2 * ConnectionRoom::kAskAgain);
  EXPECT_EQ(other.connectionsWanted, 2) << "it is asked again";
  rig.budget().connections.release();
  rig.advance(2 * ConnectionRoom::kAskAgain);
  EXPECT_EQ(rig.dialled(), 2U);
  first.drop();
  second.drop();
  rig.budgets.withdraw(other);
}

}  // namespace
}  // namespace sluice::upstream
