// Tests peers that do not read, and requests that share an HTTP/2 connection with them: only their own streams stop.
// The victims are served during each attack. Peers that leave with all of their streams are tested here too.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

constexpr std::uint16_t kInitialWindowSize = 0x4;
constexpr std::uint32_t kStreamsOfAConnection = 100;  // limits.concurrentStreams
// A stream has two heads of up to 16 KiB each, and a first window of 44 KiB.
constexpr std::size_t kKibOfAStream = 96;
constexpr std::size_t kKibOfTheRest = 32 * 1024;

/// Returns Backends that speak HTTP/2 without TLS, and rules that lead to them by the first segment of the path.
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

GatewaySpec specOf(const std::vector<std::pair<std::string, std::uint16_t>>& backends,
                   const std::string& settings = {}) {
  return {.backends = {{.port = backends.front().second}},
          .settings = limits("backendRequests: 2000, backendConnections: 2000") + settings,
          .routes = h2cRoutes(backends)};
}

/// Returns the number of body bytes that a client has read.
std::uint64_t bytesOf(const H2Client& client) {
  std::uint64_t sum = 0;
  for (const H2Frame& frame : client.seen().frames()) {
    if (frame.type == H2Type::kData) sum += frame.payload.size();
  }
  return sum;
}

/// The victims ask for more than the window of a stream.
bool isServed(std::uint16_t port) {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET /bytes/300000 HTTP/1.1\r\nHost: a\r\n\r\n");
  const ReceivedResponse got = readResponse(client);
  return got.status == 200 && got.body.size() == 300'000;
}

/// Returns the series of the requests that this Backend has.
std::string activeOf(const std::string& backend) {
  return "http_server_active_requests{gateway=\"test/egress\",route=\"test/all\",backend=\"test/" + backend + "\"";
}

std::function<bool()> othersOf(const GatewayProcess& gateway) {
  return [&gateway] { return isServed(gateway.port()); };
}

// --- responses that clients do not read ----------------------------------------------------------------------------

/// Returns clients with `count` streams together, each of which reads `window` bytes and then no more.
std::vector<std::unique_ptr<H2Client>> stallStreams(std::uint16_t port, std::uint32_t count, std::uint32_t window = 0) {
  constexpr std::uint32_t kPlenty = 1'000'000'000;
  std::vector<std::unique_ptr<H2Client>> clients;
  while (count > 0) {
    const std::uint32_t here = std::min(count, kStreamsOfAConnection);
    count -= here;
    const std::string hello = std::string(h2::preface()) + h2::settings({{kInitialWindowSize, window}}) +
                              h2::settingsAck() + h2::windowUpdate(0, kPlenty);
    H2Client& client = *clients.emplace_back(std::make_unique<H2Client>(port, hello));
    for (std::uint32_t i = 0; i < here; ++i) client.send(h2::headers(2 * i + 1, h2::get("/bytes/1000000"), true));
    EXPECT_TRUE(client.readUntil([&] { return client.seen().count(H2Type::kHeaders) == here; }));
    EXPECT_TRUE(client.readUntil([&] { return bytesOf(client) == std::uint64_t{here} * window; }));
  }
  return clients;
}

void expectStanding(const std::vector<std::unique_ptr<H2Client>>& attackers) {
  for (const auto& attacker : attackers) {
    EXPECT_TRUE(attacker->isServed());
    EXPECT_EQ(attacker->seen().count(H2Type::kRstStream), 0U) << "the attack stands";
  }
}

void expectReset(const std::vector<std::unique_ptr<H2Client>>& attackers) {
  for (const auto& attacker : attackers) {
    const H2FrameReader& seen = attacker->seen();
    EXPECT_TRUE(attacker->readUntil([&] { return seen.count(H2Type::kRstStream) == seen.count(H2Type::kHeaders); }));
  }
}

class UnreadStreams : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Many, UnreadStreams, testing::Values(4U, 100U, 1000U));

TEST_P(UnreadStreams, LeaveTheBackendToOtherClientsAndHoldLittle) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway(specOf({{"origin", origin.port()}}));
  Attack attack(gateway, othersOf(gateway), {.grownKib = GetParam() * kKibOfAStream + kKibOfTheRest});
  const auto attackers = stallStreams(gateway.port(), GetParam());
  attack.stands();
  expectStanding(attackers);
}

TEST_P(UnreadStreams, AreResetAfterResponseIdle) {
  const EchoOrigin origin(std::nullopt);
  PassedTime time;
  GatewaySpec spec = specOf({{"origin", origin.port()}}, onlyTimeouts("responseIdle: 60s"));
  spec.startedBy = time.startedBy();
  GatewayProcess gateway(spec);
  Attack attack(gateway, othersOf(gateway), {.grownKib = GetParam() * kKibOfAStream + kKibOfTheRest});
  const auto attackers = stallStreams(gateway.port(), GetParam());
  time.pass(gateway, std::chrono::seconds(50));
  expectStanding(attackers);
  attack.stands();
  time.pass(gateway, std::chrono::seconds(61));
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"responseIdle\"}", GetParam()));
  expectReset(attackers);
  EXPECT_EQ(gateway.metric("sluice_limit_hits_total{limit=\"responseIdle\"}"), GetParam()) << "each is counted once";
}

// The streams read so much that they were given whole windows, and then no more.
TEST(StreamsThatStopReading, HoldNoMoreThanTheirClientMay) {
  constexpr std::uint32_t kStreams = 100;
  const EchoOrigin origin(std::nullopt);
  PassedTime time;
  GatewaySpec spec = specOf({{"origin", origin.port()}}, onlyTimeouts("responseIdle: 60s"));
  spec.startedBy = time.startedBy();
  GatewayProcess gateway(spec);
  constexpr std::size_t kBoundKib = 4 * 1024;
  Attack attack(gateway, othersOf(gateway), {.grownKib = 3 * kBoundKib + kStreams * 32 + kKibOfTheRest});
  const auto attackers = stallStreams(gateway.port(), kStreams, 200'000);
  EXPECT_TRUE(gateway.limitWasHit("connectionMemory"));
  attack.stands();
  expectStanding(attackers);
  time.pass(gateway, std::chrono::seconds(61));
  expectReset(attackers);
  EXPECT_TRUE(isServed(gateway.port()));
}

// Each SETTINGS opens the windows of all streams by one byte, and so asks for as many frames of one byte. Those that
// arrive together are answered together.
TEST(WindowsOfOneByte, CostLittle) {
  constexpr std::uint32_t kRounds = 5000;
  const EchoOrigin origin(std::nullopt);
  GatewaySpec spec = specOf({{"origin", origin.port()}});
  spec.release = true;
  GatewayProcess gateway(spec);
  Attack attack(gateway, othersOf(gateway), {.cpuSeconds = 5});
  const auto attackers = stallStreams(gateway.port(), kStreamsOfAConnection);
  H2Client& client = *attackers.front();
  for (std::uint32_t window = 1; window <= kRounds; ++window) {
    ASSERT_TRUE(client.send(h2::settings({{kInitialWindowSize, window}})));
    if (window % 100 == 0) {
      ASSERT_TRUE(client.isServed());
    }
  }
  EXPECT_TRUE(client.readUntil([&] { return bytesOf(client) == std::uint64_t{kRounds} * kStreamsOfAConnection; }));
  EXPECT_GT(client.seen().count(H2Type::kData), kRounds) << "the attack stood";
  attack.stands();
  expectStanding(attackers);
}

// Nothing waits for the client of a quiet stream, however long it is quiet.
TEST(QuietStreams, AreNotResetIfTheyCarryEvents) {
  std::counting_semaphore<> due(0);
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    due.acquire();
    socket.send("3\r\ntwo\r\n0\r\n\r\n");
    self.waitUntilItStops();
  });
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = onlyTimeouts("responseIdle: 60s"),
                                .startedBy = time.startedBy()});
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::get(), true));
  EXPECT_TRUE(client.readUntil([&] { return client.seen().body(1) == "one"; }));
  for (int i = 0; i < 5; ++i) time.pass(gateway, std::chrono::seconds(59));
  due.release();
  EXPECT_TRUE(client.readStream(1));
  EXPECT_EQ(client.seen().body(1), "onetwo");
}

constexpr std::size_t kKibUnread = 128 * 1024;

std::vector<BlockingSocket> openUnread(std::uint16_t port, int count) {
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(BlockingSocket::connect(port, 4096));
    EXPECT_TRUE(clients.back().send("GET /bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  return clients;
}

class UnreadResponses : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Many, UnreadResponses, testing::Values(4, 100));

TEST_P(UnreadResponses, LeaveTheBackendToOtherClientsOverHttp11) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway(specOf({{"origin", origin.port()}}));
  Attack attack(gateway, othersOf(gateway), {.grownKib = kKibUnread});
  const std::vector<BlockingSocket> attackers = openUnread(gateway.port(), GetParam());
  attack.stands();
}

/// Returns true once so many unread responses were reset. Time passes until then, because a socket may have moved by
/// the first checks, as the kernel takes some of what is sent to it, and an origin may answer late.
bool areResetAsTimePasses(const GatewayProcess& gateway, PassedTime& time, double count) {
  return eventually([&] {
    time.pass(gateway, std::chrono::seconds(61));
    return gateway.limitHits("responseIdle") >= count;
  });
}

TEST_P(UnreadResponses, AreResetOverHttp11WhenTheirSocketsStall) {
  const EchoOrigin origin(std::nullopt);
  PassedTime time;
  GatewaySpec spec = specOf({{"origin", origin.port()}}, onlyTimeouts("responseIdle: 60s"));
  spec.startedBy = time.startedBy();
  GatewayProcess gateway(spec);
  Attack attack(gateway, othersOf(gateway), {.grownKib = kKibUnread});
  std::vector<BlockingSocket> attackers = openUnread(gateway.port(), GetParam());
  attack.stands();
  EXPECT_TRUE(areResetAsTimePasses(gateway, time, GetParam()));
  EXPECT_TRUE(isServed(gateway.port()));
}

/// Returns HTTP/2 clients that open their windows as far as they go, ask for `kStreamsOfAConnection` responses each,
/// and never read: only their sockets hold the responses back.
std::vector<BlockingSocket> openUnreadOverHttp2(std::uint16_t port, int count) {
  std::string asked = std::string(h2::preface()) + h2::settings({{kInitialWindowSize, 0x7fffffff}}) +
                      h2::settingsAck() + h2::windowUpdate(0, 0x7fffffff - 65535);
  for (std::uint32_t i = 0; i < kStreamsOfAConnection; ++i) {
    asked += h2::headers(2 * i + 1, h2::get("/bytes/100000000"), true);
  }
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(BlockingSocket::connect(port, 4096));
    EXPECT_TRUE(clients.back().send(asked));
  }
  return clients;
}

class UnreadConnections : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Clients, UnreadConnections, testing::Values(1, 10));

// The gateway holds the memory of their streams, and at most limits.connectionMemory of each client. All of that comes
// in one burst, for which a victim may wait once.
TEST_P(UnreadConnections, AreBoundedAndResetOverHttp2) {
  const EchoOrigin origin(std::nullopt);
  // The attackers have an origin of their own, so that the victims wait for the gateway alone.
  const EchoOrigin large(std::nullopt);
  PassedTime time;
  GatewaySpec spec = specOf({{"origin", origin.port()}, {"bytes", large.port()}}, onlyTimeouts("responseIdle: 60s"));
  spec.startedBy = time.startedBy();
  GatewayProcess gateway(spec);
  const auto boundKib = static_cast<std::size_t>(inThisRun(3, 1)) * 4 * 1024;
  const auto count = static_cast<std::size_t>(GetParam());
  const std::size_t streams = count * kStreamsOfAConnection;
  Attack attack(
      gateway, [&] { return askRaw(gateway.port()).status == 200; },
      {.grownKib = count * boundKib + streams * kKibOfAStream + kKibOfTheRest, .waits = std::chrono::seconds(1)});
  const std::vector<BlockingSocket> attackers = openUnreadOverHttp2(gateway.port(), GetParam());
  const auto all = static_cast<double>(streams);
  EXPECT_TRUE(gateway.reaches(activeOf("bytes"), all));
  EXPECT_TRUE(gateway.limitWasHit("connectionMemory"));
  attack.stands();
  EXPECT_GE(gateway.metric(activeOf("bytes")), all) << "the attack stands";
  EXPECT_TRUE(areResetAsTimePasses(gateway, time, all));
  EXPECT_TRUE(eventually([&] { return gateway.metric(activeOf("bytes")) == 0; }));
  EXPECT_TRUE(isServed(gateway.port()));
}

// --- requests that Backends do not read -----------------------------------------------------------------------------

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

/// Sends 99 uploads that are never read, and expects that one more of this client, to another backend, is served.
void expectTheHundredthUploadServed(Uploader& uploader) {
  constexpr std::size_t kPiece = 16 * 1024;
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

class UnreadUploads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Clients, UnreadUploads, testing::Values(1, 10));

TEST_P(UnreadUploads, LeaveTheClientsConnectionToItsOtherRequests) {
  const EchoOrigin origin(std::nullopt);
  RawOrigin stuck([](BlockingSocket& socket, RawOrigin& self) {
    H2Client peer(std::move(socket));
    peer.send(h2::settingsAck());
    self.waitUntilItStops();
  });
  GatewayProcess gateway(specOf({{"origin", origin.port()}, {"stuck", stuck.port()}}));
  const auto streams = static_cast<std::size_t>(GetParam()) * kStreamsOfAConnection;
  Attack attack(gateway, othersOf(gateway), {.grownKib = streams * kKibOfAStream + kKibOfTheRest});
  std::vector<std::unique_ptr<Uploader>> uploaders;
  for (int i = 0; i < GetParam(); ++i) {
    expectTheHundredthUploadServed(*uploaders.emplace_back(std::make_unique<Uploader>(gateway.port())));
  }
  attack.stands();
}

TEST(UploadsToABackendThatIsNeverReady, LeaveTheClientsConnectionToItsOtherRequests) {
  const EchoOrigin origin(std::nullopt);
  RawOrigin stuck([](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); });  // stuck in its TLS handshake
  GatewayProcess gateway({.backends = {{.port = origin.port()},
                                       {.name = "stuck", .port = stuck.port(), .ca = makeAuthority().certificate}},
                          .settings = "timeouts: {connect: 60s}\n",
                          .routes = routeOfRules(ruleOfPrefix("/stuck", "stuck") + ruleOfPrefix("/", "origin"))});
  Attack attack(gateway, othersOf(gateway));
  Uploader uploader(gateway.port());
  expectTheHundredthUploadServed(uploader);
  attack.stands();
}

// --- streams that close at once -----------------------------------------------------------------------------

// The work of each close must not grow with the streams that are still there.
TEST(ConnectionsThatCloseWithAllTheirStreams, CostLittle) {
  constexpr std::uint32_t kStreams = 1000;
  const bool measured = isMeasured();
  const EchoOrigin origin(std::nullopt);
  RawOrigin held([](BlockingSocket& socket, RawOrigin& self) {
    H2Client peer(std::move(socket));
    peer.send(h2::settingsAck());
    while (!peer.closed() && !self.stopping()) peer.readUntil([] { return false; });
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .settings = limits("concurrentStreams: " + std::to_string(kStreams) +
                                             ", backendRequests: 2000, backendConnections: 2000"),
                          .routes = h2cRoutes({{"origin", origin.port()}, {"held", held.port()}}),
                          .release = true});
  std::string asked = h2::clientHello() + h2::settingsAck();
  for (std::uint32_t i = 0; i < kStreams; ++i) asked += h2::headers(2 * i + 1, h2::get("/held"), true);
  Attack attack(
      gateway, othersOf(gateway),
      {.grownKib = kStreams * kKibOfAStream + kKibOfTheRest, .cpuSeconds = measured ? inThisRun(1, 2) : 60.0});
  for (int round = 0; round < inThisRun(5, 20); ++round) {
    H2Client client(gateway.port(), asked);
    ASSERT_TRUE(gateway.reaches(activeOf("held"), kStreams)) << round;
    if (round == 0) attack.stands();
    client.reset();
    ASSERT_TRUE(eventually([&] { return gateway.metric(activeOf("held")) == 0; })) << round;
  }
  attack.stands();
}

}  // namespace
}  // namespace sluice::test
