// Peers who do not read, and what shares a connection of HTTP/2 with them: they stop themselves, and nobody else. Each
// attack stands while its victims are served.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

constexpr std::uint16_t kInitialWindowSize = 0x4;
constexpr std::uint32_t kStreamsOfAConnection = 100;  // limits.concurrentStreams

/// Backends that speak HTTP/2 without TLS, and rules that lead to them by the first segment of the path.
std::string h2cRoutes(const std::vector<std::pair<std::string, std::uint16_t>>& backends) {
  std::string documents;
  std::string rules;
  for (const auto& [name, port] : backends) {
    documents +=
        "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: test, name: " + name +
        "}\nspec:\n  type: ExternalHostname\n  externalHostname: {hostname: origin.test}\n  port: {port: " +
        std::to_string(port) + "}\n  protocol: H2C\n---\n";
    rules += "    - matches: [{path: {type: PathPrefix, value: " + std::string(name == "origin" ? "/" : "/" + name) +
             "}}]\n      backendRefs: [{group: gateway.networking.x-k8s.io, kind: XBackend, name: " + name +
             ", port: " + std::to_string(port) + "}]\n";
  }
  return documents + routeOfRules(rules);
}

GatewaySpec specOf(const std::vector<std::pair<std::string, std::uint16_t>>& backends) {
  return {.backends = {{.port = backends.front().second}},
          .settings = limits("backendRequests: 2000, backendConnections: 2000"),
          .routes = h2cRoutes(backends)};
}

/// What the others ask for: more than the window of a stream.
bool isServed(std::uint16_t port) {
  Socket client = Socket::connect(port);
  client.send("GET /bytes/300000 HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawResponse got = readResponse(client);
  return got.status == 200 && got.body.size() == 300'000;
}

/// Long enough for an attack that begins slowly.
void expectServed(std::uint16_t port) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(isServed(port)) << "request " << i;
}

// --- responses that nobody reads ----------------------------------------------------------------------------

/// Clients with so many streams together, of which none may send a byte of its body.
std::vector<std::unique_ptr<H2Client>> stallStreams(std::uint16_t port, std::uint32_t count) {
  std::vector<std::unique_ptr<H2Client>> clients;
  while (count > 0) {
    const std::uint32_t here = std::min(count, kStreamsOfAConnection);
    count -= here;
    const std::string hello = std::string(h2::preface()) + h2::settings({{kInitialWindowSize, 0}}) + h2::settingsAck();
    H2Client& client = *clients.emplace_back(std::make_unique<H2Client>(port, hello));
    for (std::uint32_t i = 0; i < here; ++i) client.send(h2::headers(2 * i + 1, h2::get("/bytes/1000000"), true));
    EXPECT_TRUE(client.readUntil([&] { return client.seen().count(H2Type::kHeaders) == here; }));
  }
  return clients;
}

class UnreadStreams : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Many, UnreadStreams, testing::Values(4U, 100U, 1000U));

TEST_P(UnreadStreams, LeaveTheBackendToOtherClients) {
  const EchoOrigin origin(std::nullopt);
  const Gateway gateway(specOf({{"origin", origin.port()}}));
  expectServed(gateway.port());
  const auto attackers = stallStreams(gateway.port(), GetParam());
  expectServed(gateway.port());
  for (const auto& attacker : attackers) {
    EXPECT_TRUE(attacker->isServed());
    EXPECT_EQ(attacker->seen().count(H2Type::kRstStream), 0U) << "the attack stands";
  }
}

class UnreadResponses : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Many, UnreadResponses, testing::Values(4, 100));

TEST_P(UnreadResponses, OfHttp11LeaveTheBackendToOtherClients) {
  const EchoOrigin origin(std::nullopt);
  const Gateway gateway(specOf({{"origin", origin.port()}}));
  expectServed(gateway.port());
  std::vector<Socket> attackers;
  for (int i = 0; i < GetParam(); ++i) {
    attackers.push_back(Socket::connect(gateway.port(), 4096));
    ASSERT_TRUE(attackers.back().send("GET /bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  expectServed(gateway.port());
}

// --- requests that nobody reads -----------------------------------------------------------------------------

/// Sends DATA as the connection's window allows.
class Uploader {
 public:
  explicit Uploader(std::uint16_t port) : client(port) {}
  void begin(std::uint32_t stream, const std::string& path) { client.send(h2::headers(stream, h2::post(path), false)); }
  [[nodiscard]] bool send(std::uint32_t stream, std::size_t size, bool end) {
    constexpr std::uint64_t kFirst = 65535;  // RFC 9113 section 6.9.2
    if (!client.readUntil([&] { return sent_ + size <= kFirst + client.seen().granted(0); })) return false;
    sent_ += size;
    return client.send(h2::data(stream, std::string(size, 'x'), end));
  }

  H2Client client;

 private:
  std::uint64_t sent_ = 0;
};

/// 99 uploads that go nowhere, and one of the same client that goes somewhere else.
void expectTheHundredthUploadServed(const Gateway& gateway) {
  constexpr std::size_t kPiece = 16 * 1024;
  Uploader uploader(gateway.port());
  std::uint32_t stream = 1;
  for (; stream < 2 * 99; stream += 2) {
    uploader.begin(stream, "/stuck");
    ASSERT_TRUE(uploader.send(stream, kPiece, false)) << stream;
    ASSERT_TRUE(uploader.send(stream, kPiece, false)) << stream;
  }
  uploader.begin(stream, "/fine");
  ASSERT_TRUE(uploader.send(stream, kPiece, false));
  ASSERT_TRUE(uploader.send(stream, kPiece, true));
  EXPECT_TRUE(uploader.client.readStream(stream));
  EXPECT_EQ(uploader.client.status(stream), "200");
  EXPECT_EQ(uploader.client.seen().count(H2Type::kRstStream), 0U) << "the others are still there";
}

TEST(UnreadUploads, ToABackendOfHttp2LeaveTheClientsConnectionToItsOtherRequests) {
  const EchoOrigin origin(std::nullopt);
  RawOrigin stuck([](Socket& socket, RawOrigin& self) {
    H2Client peer(std::move(socket));
    peer.send(h2::settingsAck());
    self.waitUntilItStops();
  });
  const Gateway gateway(specOf({{"origin", origin.port()}, {"stuck", stuck.port()}}));
  expectTheHundredthUploadServed(gateway);
}

TEST(UnreadUploads, ToABackendThatIsNeverReadyLeaveTheClientsConnectionToItsOtherRequests) {
  const EchoOrigin origin(std::nullopt);
  RawOrigin stuck([](Socket&, RawOrigin& self) { self.waitUntilItStops(); });  // its handshake of TLS waits
  const Gateway gateway({.backends = {{.port = origin.port()},
                                      {.name = "stuck", .port = stuck.port(), .ca = makeAuthority().certificate}},
                         .settings = "timeouts: {connect: 60s}\n",
                         .routes = routeOfRules(ruleOfPrefix("/stuck", "stuck") + ruleOfPrefix("/", "origin"))});
  expectTheHundredthUploadServed(gateway);
}

}  // namespace
}  // namespace sluice::test
