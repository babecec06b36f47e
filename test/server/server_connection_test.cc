// A client's connection over a real socket: its version, its timeouts, and its end. Time by hand.
#include "proxy/server/connection/server_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "test/net/socket_pair.h"
#include "test/support/h2_frames.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"
#include "test/support/test_pki.h"

namespace sluice::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Answers every request with "hi", and every refusal with its status.
class Greeter final : public ServerConnection {
 public:
  Greeter(const ConnectionParts& parts, int fd, const std::shared_ptr<const net::TlsServerContext>& tls)
      : ServerConnection(parts, fd, *net::Address::parse("127.0.0.1", 1), tls) {}

  bool dirty = true;
  std::vector<std::string> timeouts;
  std::size_t failedHandshakes = 0;
  std::size_t handshakes = 0;
  std::size_t requests = 0;
  bool mute = false;     // never answers
  bool patient = false;  // waits until takeTurn() is called
  bool waits = false;

  void answer() {
    resume();
    for (const auto& [stream, status] : std::exchange(asked_, {})) {
      auto& pipe = pipes_.try_emplace(stream, worker().chunks()).first->second;
      pipe.bytes.append("hi");
      pipe.finish();
      http::ResponseHead head;
      head.status = status;
      head.body = http::Body::kLength;
      head.contentLength = 2;
      codecOrNull()->sendResponse(stream, head);
    }
  }

 private:
  void markDirty() override { dirty = true; }
  void onRequestsWait() override {
    if (patient) {
      waits = true;
    } else {
      takeTurn();
    }
  }
  void onHandshake(bool complete) override { ++(complete ? handshakes : failedHandshakes); }
  void onTimeout(std::string_view name) override { timeouts.emplace_back(name); }
  http::Token ask(http::StreamId stream, std::uint16_t status) {
    ++requests;
    headArrived();
    if (!mute) asked_.emplace_back(stream, status);
    return stream;
  }
  http::Token onRequest(http::StreamId stream, http::RequestMessage&&) override { return ask(stream, 200); }
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override {
    return ask(stream, error.status);
  }
  void onRequestBody(http::Token, std::string_view) override {}
  void onRequestEnd(http::Token) override {}
  void onRequestEnd(http::Token, http::Trailers&&) override {}
  void onRequestReset(http::Token token, const base::Error&, bool) override {
    requestEnded();
    pipes_.erase(static_cast<http::StreamId>(token));
  }
  http::BodyPipe* responseBody(http::Token token) override {
    const auto found = pipes_.find(static_cast<http::StreamId>(token));
    return found != pipes_.end() ? &found->second : nullptr;
  }
  void onResponseBodyTaken(http::Token, std::size_t) override {}
  void onResponseSent(http::Token token) override {
    requestEnded();
    pipes_.erase(static_cast<http::StreamId>(token));
    markDirty();
  }
  void onLimitHit(http::Limit) override {}

  std::vector<std::pair<http::StreamId, std::uint16_t>> asked_;
  std::map<http::StreamId, http::BodyPipe> pipes_;
};

class ServerConnectionTest : public ::testing::Test, private net::Beats {
 protected:
  ServerConnectionTest() { worker_.setBeats(this); }
  ~ServerConnectionTest() override { connection_.reset(); }

  void open(const std::shared_ptr<const net::TlsServerContext>& tls = nullptr) {
    test::SocketPair pair = test::makeSocketPair();
    peer_ = std::move(pair.peers);
    const net::Worker::Turn turn(worker_);
    connection_ = std::make_unique<Greeter>(parts_, pair.ours.release(), tls);
  }
  void send(std::string_view bytes) {
    ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  }
  /// Lets the gateway read the bytes that were sent: on loopback they are there at once.
  void pump() {
    for (int i = 0; i < 5; ++i) uv_run(worker_.loop(), UV_RUN_NOWAIT);
  }
  /// Returns true once `mark` is in the bytes that have arrived.
  bool arrives(std::string_view mark) {
    return test::runUntil(worker_, [&] {
      read();
      return received_.find(mark) != std::string::npos;
    });
  }
  bool dies() {
    return test::runUntil(worker_, [&] { return connection_->dead(); });
  }
  /// Returns true once the client sees the end of the stream.
  bool ends() {
    for (int i = 0; i < 100; ++i) {
      pump();
      if (read() == 0) return true;
    }
    return false;
  }
  void advance(base::Duration by) {
    clock_.advance(by);
    const net::Worker::Turn turn(worker_);
  }
  /// Lets time pass, with the longest delay of timers.
  void advancePast(base::Duration by) { advance(by + 2 * net::TimerWheel::kTick); }
  Greeter& connection() { return *connection_; }

  test::Descriptor peer_;
  std::string received_;
  base::TimeoutSettings timeouts_;
  test::ManualClock clock_;

 private:
  ssize_t read() {
    char part[4096];
    const ssize_t count = ::recv(peer_.get(), part, sizeof part, MSG_DONTWAIT);
    if (count > 0) received_.append(part, static_cast<std::size_t>(count));
    return count;
  }
  void drive() override {
    if (connection_ && !connection_->dead()) connection_->answer();
  }
  void flush() override {
    if (!connection_) return;
    connection_->dirty = false;
    connection_->flush();
  }
  void reap() override {}
  bool quiet() const override { return connection_ == nullptr || !connection_->dirty || connection_->dead(); }

  http::Limits limits_;

 protected:
  net::Worker worker_{clock_};
  const ConnectionParts parts_{worker_, limits_, timeouts_};

 private:
  std::unique_ptr<Greeter> connection_;
};

TEST_F(ServerConnectionTest, ServesHttp11AndKeepsTheConnection) {
  open();
  send(kRequest);
  ASSERT_TRUE(arrives("\r\n\r\nhi"));
  received_.clear();
  send(kRequest);
  ASSERT_TRUE(arrives("\r\n\r\nhi"));
  EXPECT_EQ(connection().requests, 2U);
}

TEST_F(ServerConnectionTest, AnswersPipelinedRequestsInOrder) {
  open();
  send(std::string(kRequest) + std::string(kRequest) + std::string(kRequest));
  ASSERT_TRUE(test::runUntil(worker_, [&] { return connection().requests == 3; }));
  ASSERT_TRUE(arrives("hiHTTP/1.1 200 OK"));
}

TEST_F(ServerConnectionTest, ReadsThePipelinedRequestsBehindAnAnswerOnlyInItsTurn) {
  open();
  connection().patient = true;
  send(std::string(kRequest) + std::string(kRequest));
  ASSERT_TRUE(test::runUntil(worker_, [&] { return connection().waits; }));
  connection().dirty = true;  // something else may happen on the connection meanwhile
  pump();
  EXPECT_EQ(connection().requests, 1U);
  {
    const net::Worker::Turn turn(worker_);
    connection().takeTurn();
  }
  EXPECT_EQ(connection().requests, 2U);
}

TEST_F(ServerConnectionTest, RecognizesHttp2ByItsPrefaceWhereverItIsCut) {
  open();
  for (const char c : kPreface) {
    send({&c, 1});
    pump();
  }
  send(std::string_view("\0\0\0\4\0\0\0\0\0", 9));
  ASSERT_TRUE(arrives(std::string("\4\0\0\0\0\0", 6))) << "our SETTINGS";
  EXPECT_FALSE(connection().dead());
}

TEST_F(ServerConnectionTest, SpeaksHttp11IfTheInputOnlyBeginsLikeThePreface) {
  open();
  send("P");
  pump();
  send("OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(arrives("HTTP/1.1 200 OK"));
}

TEST_F(ServerConnectionTest, EndsAHeadThatDoesNotArriveByRequestHeader) {
  open();
  send("GET / HTTP/1.1\r\n");
  pump();
  advance(seconds(10) - milliseconds(1));
  EXPECT_TRUE(connection().timeouts.empty());
  advancePast(milliseconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"requestHeader"});
  ASSERT_TRUE(arrives("HTTP/1.1 408 Request Timeout"));
  EXPECT_TRUE(ends());
}

TEST_F(ServerConnectionTest, DoesNotWaitLongerForAHeadThatDrips) {
  open();
  send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 3; ++i) {
    pump();
    advance(seconds(3));
    send("x: y\r\n");
  }
  pump();
  EXPECT_TRUE(connection().timeouts.empty());
  advancePast(seconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"requestHeader"});
}

TEST_F(ServerConnectionTest, TreatsAnAmbiguousFirstByteAsASlowHead) {
  open();
  send("P");
  pump();
  advancePast(seconds(10));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"requestHeader"});
}

TEST_F(ServerConnectionTest, EndsAConnectionWithoutARequestByClientIdle) {
  open();
  advance(seconds(120) - milliseconds(1));
  EXPECT_FALSE(connection().dead());
  advancePast(milliseconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"clientIdle"});
  EXPECT_TRUE(connection().dead());
}

TEST_F(ServerConnectionTest, EndsAKeptConnectionInOrderByClientIdle) {
  open();
  send(kRequest);
  ASSERT_TRUE(arrives("hi"));
  advance(seconds(120) - milliseconds(1));
  EXPECT_TRUE(connection().timeouts.empty());
  advancePast(milliseconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"clientIdle"});
  EXPECT_TRUE(ends());
  peer_.close();
  EXPECT_TRUE(dies());
}

TEST_F(ServerConnectionTest, IsNotIdleWhileARequestIsInFlight) {
  open();
  connection().mute = true;
  send(kRequest);
  ASSERT_TRUE(test::runUntil(worker_, [&] { return connection().requests == 1; }));
  for (int i = 0; i < 5; ++i) advance(seconds(61));
  EXPECT_TRUE(connection().timeouts.empty());
  EXPECT_FALSE(connection().dead());
}

TEST_F(ServerConnectionTest, AnHttp2ClientThatOnlyPingsIsIdle) {
  open();
  send(test::h2::clientHello() + test::h2::settingsAck());
  pump();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(connection().timeouts.empty());
    advance(seconds(39));
    received_.clear();
    send(test::h2::ping());
    ASSERT_TRUE(arrives(std::string_view("\0\0\x8\x6\x1", 5)));
  }
  advancePast(seconds(3));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"clientIdle"});
  send(test::h2::ping(true));
  EXPECT_TRUE(ends());
}

TEST_F(ServerConnectionTest, AnHttp2ClientIsIdleFromItsLastResponseOn) {
  open();
  send(test::h2::clientHello() + test::h2::settingsAck());
  pump();
  advance(seconds(100));
  send(test::h2::headers(1, test::h2::get(), true));
  ASSERT_TRUE(arrives("hi"));
  advance(seconds(119));
  EXPECT_TRUE(connection().timeouts.empty());
  advancePast(seconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"clientIdle"});
}

TEST_F(ServerConnectionTest, EndsAnUploadBehindItsResponseByDrain) {
  constexpr std::string_view kReset("\0\0\4\3\0\0\0\0\1\0\0\0\0", 13);  // NO_ERROR, of stream 1
  open();
  send(test::h2::clientHello() + test::h2::settingsAck() + test::h2::headers(1, test::h2::post(), false));
  ASSERT_TRUE(arrives("hi"));
  advance(seconds(1));
  send(test::h2::data(1, "more", false) + test::h2::headers(3, test::h2::post(), false));
  ASSERT_TRUE(test::runUntil(worker_, [&] { return connection().requests == 2; }));
  advance(seconds(1) - milliseconds(1));
  EXPECT_TRUE(connection().timeouts.empty());
  advancePast(milliseconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"drain"});
  ASSERT_TRUE(arrives(kReset));
  advancePast(seconds(1));
  EXPECT_EQ(connection().timeouts, (std::vector<std::string>{"drain", "drain"})) << "each has its own time";
  received_.clear();
  send(test::h2::headers(5, test::h2::get(), true));
  EXPECT_TRUE(arrives("hi"));
  advance(seconds(59));
  EXPECT_EQ(connection().timeouts.size(), 2U);
}

std::shared_ptr<const net::TlsServerContext> listenerTls() {
  const test::CertifiedKey identity = test::issueServer(test::makeAuthority(), "a.test");
  net::TlsServerSettings settings;
  settings.identities.push_back(
      {std::make_shared<const pki::CertificateChain>(pki::CertificateChain::parse(identity.certificate).value()),
       std::make_shared<const pki::PrivateKey>(pki::PrivateKey::parse(identity.secretKey()).value())});
  settings.alpn = {"h2", "http/1.1"};
  return net::TlsServerContext::make(settings).value();
}

TEST_F(ServerConnectionTest, IsToldOfAHandshakeThatFails) {
  open(listenerTls());
  send(kRequest);
  ASSERT_TRUE(dies());
  EXPECT_EQ(connection().failedHandshakes, 1U);
  EXPECT_EQ(connection().handshakes, 0U);
}

TEST_F(ServerConnectionTest, HasNoHandshakeWithoutTls) {
  open();
  send(kRequest);
  ASSERT_TRUE(arrives("hi"));
  EXPECT_EQ(connection().handshakes, 0U);
  EXPECT_EQ(connection().failedHandshakes, 0U);
}

TEST_F(ServerConnectionTest, EndsASilentClientByTlsHandshake) {
  open(listenerTls());
  advance(seconds(10) - milliseconds(1));
  EXPECT_FALSE(connection().dead());
  advancePast(milliseconds(1));
  EXPECT_EQ(connection().timeouts, std::vector<std::string>{"tlsHandshake"});
  EXPECT_TRUE(connection().dead());
}

TEST_F(ServerConnectionTest, ReadsOnAfterItsEndSoThatNoResetOvertakesTheAnswer) {
  open();
  send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  ASSERT_TRUE(arrives("connection: close"));
  ASSERT_TRUE(ends());
  const std::string block(64 * 1024, 'x');
  for (int i = 0; i < 15; ++i) {  // the whole announced body
    std::size_t sent = 0;
    ASSERT_TRUE(test::runUntil(worker_, [&] {
      const ssize_t count = ::send(peer_.get(), block.data() + sent, block.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) sent += static_cast<std::size_t>(count);
      return sent == block.size();
    }));
  }
  EXPECT_FALSE(connection().dead());
  peer_.close();
  EXPECT_TRUE(dies());
}

TEST_F(ServerConnectionTest, DoesNotLingerForAClientThatDrips) {
  open();
  send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  ASSERT_TRUE(ends());
  for (int i = 0; i < 2; ++i) {
    advance(seconds(2));
    send("x");
    pump();
    EXPECT_FALSE(connection().dead());
  }
  advancePast(seconds(1));
  EXPECT_TRUE(connection().dead());
}

TEST_F(ServerConnectionTest, ClosesAtOnceIfTheClientHasEndedItsSide) {
  open();
  send(kRequest);
  ASSERT_TRUE(arrives("hi"));
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_TRUE(dies()) << "at once: there is nothing to linger for";
  EXPECT_TRUE(ends());
}

TEST_F(ServerConnectionTest, ClosesWhenDrainedOnceItIsIdle) {
  open();
  send(kRequest);
  ASSERT_TRUE(arrives("hi"));
  {
    const net::Worker::Turn turn(worker_);
    connection().drain();
  }
  EXPECT_TRUE(ends());
}

}  // namespace
}  // namespace sluice::server
