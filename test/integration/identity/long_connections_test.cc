// Tests connections that outlive the rules by which their certificates were verified: each request is judged by the
// rules and the time of now, whichever protocol carries it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/identity/openssl_client.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/wall_clock.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// One connection, on which requests are sent one after the other.
class LongConnection {
 public:
  virtual ~LongConnection() = default;
  /// Returns the status of the next request; 0 if there was no answer.
  virtual int ask() = 0;
  /// Waits for the end of the connection; returns false if it does not come.
  virtual bool ends() = 0;
};

class LongHttp1 : public LongConnection {
 public:
  LongHttp1(std::uint16_t port, std::string request)
      : request_(std::move(request)), socket_(BlockingSocket::connect(port)) {}

  int ask() override { return askRaw(socket_, request_).status; }
  bool ends() override {
    socket_.readAll();
    return socket_.closed();
  }

 private:
  const std::string request_;
  BlockingSocket socket_;
};

class LongHttp2 : public LongConnection {
 public:
  LongHttp2(std::uint16_t port, H2Lines request) : request_(std::move(request)), client_(port) {}

  int ask() override {
    next_ += 2;
    client_.send(h2::headers(next_, request_, true));
    client_.readStream(next_);
    const std::string status = client_.status(next_);
    return status.empty() ? 0 : std::stoi(status);
  }
  /// The gateway ends the connection once its notice was read, which the answer to its PING shows.
  bool ends() override {
    return client_.readUntil([&] { return client_.seen().count(H2Type::kPing) > 0; }) &&
           client_.send(h2::ping(/*ack=*/true)) && client_.readToEnd();
  }

 private:
  const H2Lines request_;
  H2Client client_;
  std::uint32_t next_ = static_cast<std::uint32_t>(-1);
};

struct LongWay {
  const char* name;
  bool http2;
  bool proxied;
};

const LongWay kLongWays[] = {
    {"Http1", false, false}, {"Http2", true, false}, {"ProxyOverHttp1", false, true}, {"ProxyOverHttp2", true, true}};

class LongConnections : public testing::TestWithParam<LongWay> {
 protected:
  void start() {
    stage_.spec.startedBy = clock_.startedBy();
    for (const std::string& word : passed_.startedBy()) stage_.spec.startedBy.push_back(word);
    stage_.start();
  }
  /// Opens a connection to the listener, or to the proxy, with that certificate.
  std::unique_ptr<LongConnection> open(std::uint16_t listener, const std::optional<CertifiedKey>& client) {
    const LongWay& way = GetParam();
    const std::string host = "origin.test:" + std::to_string(stage_.origin.port());
    door_.emplace(way.proxied ? stage_.proxy : listener, stage_.serverAuthority.certificate, client,
                  way.http2 ? "h2" : "http/1.1");
    if (way.http2) {
      H2Lines request = h2::get("/", way.proxied ? "http" : "https");
      for (auto& [name, value] : request) {
        if (way.proxied && name == ":authority") value = host;
      }
      return std::make_unique<LongHttp2>(door_->port(), request);
    }
    return std::make_unique<LongHttp1>(
        door_->port(),
        way.proxied ? "GET " + stage_.originUrl() + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n" : std::string(kGet));
  }
  /// Sets the gateway's clock off, and lets so much time pass that it looks at the clock again.
  void moveClock(std::chrono::hours by) {
    clock_.setOff(by);
    passed_.pass(*stage_.gateway, std::chrono::seconds(2));
  }
  static int refusal() { return GetParam().proxied ? 407 : 401; }
  /// Expects that a connection with a good certificate is refused and ends after the change.
  void expectRefused(const std::function<void()>& change) {
    const auto connection = open(stage_.secure, cart_);
    EXPECT_EQ(connection->ask(), 200);
    EXPECT_EQ(connection->ask(), 200);
    EXPECT_EQ(stage_.logged(2), certifiedCaller("shop", "cart"));
    change();
    EXPECT_EQ(connection->ask(), refusal());
    EXPECT_TRUE(connection->ends());
    EXPECT_EQ(stage_.origin.heads().size(), 2U);
    EXPECT_EQ(stage_.logged(3), LoggedCaller());
    EXPECT_THAT(stage_.gateway->accessLog(3).at(2),
                HasSubstr(GetParam().proxied ? "\"error.type\":\"proxy_authentication_required\""
                                             : "\"error.type\":\"authentication_required\""));
    EXPECT_TRUE(stage_.gateway->reaches(judgementsOf("refused"), 1));
  }
  int statusOnANewConnection(const std::optional<CertifiedKey>& client) { return open(stage_.secure, client)->ask(); }

  WallClock clock_;
  PassedTime passed_;
  CallerStage stage_;
  const CertifiedKey cart_ = stage_.account("shop", "cart");
  std::optional<TlsDoor> door_;
};

TEST_P(LongConnections, EndWhenTheirAuthorityIsNoLongerTrusted) {
  start();
  const CertifiedKey other = makeAuthority("Other Authority");
  expectRefused([&] {
    stage_.trusted = other.certificate;
    stage_.reload();
  });
  EXPECT_EQ(statusOnANewConnection(cart_), 0);
  EXPECT_EQ(statusOnANewConnection(clientOf(other, {spiffeId("shop", "cart")})), 200);
  stage_.trusted = stage_.authority.certificate;
  stage_.reload();
  EXPECT_EQ(statusOnANewConnection(cart_), 200);
}

TEST_P(LongConnections, GoOnWhenAnAuthorityIsAdded) {
  start();
  const auto connection = open(stage_.secure, cart_);
  EXPECT_EQ(connection->ask(), 200);
  stage_.trusted = makeAuthority("Other Authority").certificate + stage_.authority.certificate;
  stage_.reload();
  EXPECT_EQ(connection->ask(), 200);
  EXPECT_EQ(stage_.logged(2), certifiedCaller("shop", "cart"));
}

TEST_P(LongConnections, EndWhenTheirCertificateIsRevoked) {
  start();
  expectRefused([&] {
    stage_.revoked = revocationList(stage_.authority, {cart_});
    stage_.reload();
  });
  EXPECT_EQ(statusOnANewConnection(cart_), 0);
  EXPECT_EQ(statusOnANewConnection(stage_.account("shop", "till")), 200);
}

TEST_P(LongConnections, EndWhenTheirRevocationListExpires) {
  stage_.revoked = revocationList(stage_.authority, {}, std::chrono::hours(2));
  start();
  expectRefused([&] { moveClock(std::chrono::hours(3)); });
}

TEST_P(LongConnections, EndWhenTheirCertificateExpires) {
  start();
  expectRefused([&] { moveClock(std::chrono::hours(25)); });
  EXPECT_EQ(statusOnANewConnection(cart_), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, LongConnections, testing::ValuesIn(kLongWays),
                         [](const auto& given) { return given.param.name; });

// --- listeners of the Gateway alone

class LongRoutedConnections : public LongConnections {};

TEST_P(LongRoutedConnections, LoseTheirIdentityWhereClientsMayBeInsecure) {
  start();
  const auto connection = open(stage_.lenient, cart_);
  EXPECT_EQ(connection->ask(), 200);
  EXPECT_EQ(stage_.logged(1), certifiedCaller("shop", "cart"));
  moveClock(std::chrono::hours(25));
  EXPECT_EQ(connection->ask(), 200);
  EXPECT_EQ(stage_.logged(2), LoggedCaller());
}

TEST_P(LongRoutedConnections, EndWhenTheirListenerBeginsToWantACertificate) {
  start();
  const auto connection = open(stage_.unasked, std::nullopt);
  EXPECT_EQ(connection->ask(), 200);
  stage_.asksEverywhere = true;
  stage_.makeListeners();
  stage_.reload();
  EXPECT_EQ(connection->ask(), 421) << "the client should connect again";
  EXPECT_TRUE(connection->ends());
  EXPECT_EQ(stage_.origin.heads().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Ways, LongRoutedConnections,
                         testing::Values(LongWay{"Http1", false, false}, LongWay{"Http2", true, false}),
                         [](const auto& given) { return given.param.name; });

// --- tunnels and sessions

// A tunnel is judged when it is asked for. The gateway does not see the requests in it.
TEST(LongTunnels, GoOnAndCannotBeAskedForAgain) {
  CallerStage stage;
  stage.start();
  const CertifiedKey cart = stage.account("shop", "cart");
  const TlsDoor door = stage.door(stage.proxy, cart);
  const std::string authority = "origin.test:" + std::to_string(stage.origin.port());
  BlockingSocket tunnel = BlockingSocket::connect(door.port());
  tunnel.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
  EXPECT_THAT(tunnel.readUntil("\r\n\r\n"), HasSubstr(" 200 "));
  EXPECT_EQ(askRaw(tunnel).status, 200);
  stage.revoked = revocationList(stage.authority, {cart});
  stage.reload();
  EXPECT_EQ(askRaw(tunnel).status, 200);
  EXPECT_EQ(stage.status(stage.proxy, cart), 0);
}

/// Returns "New" or "Reused", as the TLS session of the request was; empty if it was not served.
std::string sessionOf(std::uint16_t port, const std::vector<std::string>& options) {
  const std::string output = askByOpenssl(port, options);
  if (output.find("200 OK") == std::string::npos) return {};
  return output.find("Reused, TLS") != std::string::npos ? "Reused" : "New";
}

class CertifiedSessions : public testing::TestWithParam<const char*> {};

TEST_P(CertifiedSessions, AreNotResumed) {
  CallerStage stage;
  stage.start();
  const CertifiedKey cart = stage.account("shop", "cart");
  const TempDir folder;
  const std::string session = folder.path() + "/session.pem";
  const std::vector<std::string> own = {GetParam(), "-cert", folder.write("client.crt", cart.certificate), "-key",
                                        folder.write("client.key", cart.key)};
  const auto with = [&own](const std::string& option, const std::string& file) {
    std::vector<std::string> options = own;
    options.insert(options.end(), {option, file});
    return options;
  };
  EXPECT_EQ(sessionOf(stage.unasked, with("-sess_out", session)), "New");
  EXPECT_EQ(sessionOf(stage.unasked, with("-sess_in", session)), "Reused") << "this listener asks for no certificate";
  for (const std::uint16_t port : {stage.secure, stage.lenient}) {
    EXPECT_EQ(sessionOf(port, with("-sess_in", session)), "New") << "a session of another listener";
    const std::string kept = folder.path() + "/kept" + std::to_string(port);
    EXPECT_EQ(sessionOf(port, with("-sess_out", kept)), "New");
    // There is no such file if the listener has given the client nothing to resume.
    if (!readFile(kept).empty()) {
      EXPECT_EQ(sessionOf(port, with("-sess_in", kept)), "New");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, CertifiedSessions, testing::Values("-tls1_2", "-tls1_3"),
                         [](const auto& given) { return std::string(given.param).substr(1); });

}  // namespace
}  // namespace sluice::test
