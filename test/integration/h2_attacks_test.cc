// Tests hostile HTTP/2 clients, which send raw frames over real sockets. Each attack ends as RFC 9113 requires, the
// work that it began upstream ends with it, none of it reaches an origin that speaks HTTP/1.1, and the gateway serves
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

using testing::AnyOf;

/// Returns the frames of a request whose field block never ends, because CONTINUATION follows CONTINUATION.
std::string endlessBlock(const std::string& lines) {
  std::string flood = h2::headers(1, h2::block(h2::get("/wait")), true, false);
  for (int i = 0; i < 1000; ++i) flood += h2::continuation(1, lines, false);
  return flood;
}

/// Sends the frames up to `times` times, until the gateway closes the connection or stops reading for `patience`.
void sendWhileTaken(H2Client& client, const std::string& flood, int times,
                    std::chrono::milliseconds patience = kPatience) {
  while (times-- > 0 && client.send(flood, patience)) {
  }
}

/// Returns a field block with one large entry of the dynamic table and one byte for each reference to it.
std::string hpackBomb(int references) {
  std::string block = h2::block(h2::get("/wait")) + h2::indexedLine("x-a", std::string(3900, 'y'));
  for (int i = 0; i < references; ++i) block += h2::reference(62);
  const std::string_view all = block;
  if (all.size() <= 16'384) return h2::headers(1, all, true);
  return h2::headers(1, all.substr(0, 16'384), true, false) + h2::continuation(1, all.substr(16'384), true);
}

/// Returns kinds of frames that the gateway must answer, for a client that does not read.
std::vector<std::string> provocations() {
  std::string malformed;
  for (std::uint32_t id = 1; id < 2001; id += 2) malformed += h2::headers(id, {{":method", "GET"}}, true);
  std::vector<std::string> floods = {h2::ping(), h2::settings({{0x4, 65535}}), malformed};
  for (std::string& flood : floods) {
    const std::string unit = flood;
    while (flood.size() < 1'000'000) flood += unit;
  }
  return floods;
}

/// Sends a hundred requests of thousands of cookie crumbs each, on a connection whose window stays closed.
std::unique_ptr<H2Client> crumble(std::uint16_t port) {
  std::string crumbs = h2::indexedLine("cookie", "");
  for (int i = 0; i < 5000; ++i) crumbs += h2::reference(62);
  auto client = std::make_unique<H2Client>(port, std::string(h2::preface()) + h2::settings({{0x4, 0}}));
  for (std::uint32_t id = 1; id < 201; id += 2) {
    client->send(h2::headers(id, h2::block(h2::get("/fine")) + crumbs, true));
  }
  return client;
}

bool servesFine(std::uint16_t port) {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET /fine HTTP/1.1\r\nHost: a\r\n\r\n");
  H2Client again(port);
  again.send(h2::headers(1, h2::get("/fine"), true));
  again.readUntil([&] { return again.isSettled(1) || again.closed(); });
  return readResponse(client).status == 200 && again.status(1) == "200";
}

/// Shares one gateway between all attacks. Its origin answers requests for /fine and lets all others wait.
class H2Attacks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    origin_ = new RawOrigin([](BlockingSocket& socket, RawOrigin& self) {
      for (std::string head; !(head = self.readHead(socket)).empty();) {
        if (head.starts_with("GET /fine ")) {
          socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          continue;
        }
        ++waiting_;
        socket.readAll();
        --waiting_;
        return;
      }
    });
    gateway_ = new GatewayProcess(specOf("requestHeader: 60s, clientIdle: 60s"));
  }
  static void TearDownTestSuite() {
    delete gateway_;
    delete origin_;
  }

  // After every attack nothing of it is left, and the next client is served.
  void TearDown() override {
    EXPECT_TRUE(eventually([] { return waiting_ == 0; })) << "upstream work goes on: " << waiting_;
    EXPECT_TRUE(servesFine(gateway_->port()));
  }

  static GatewaySpec specOf(const std::string& timeouts) {
    return {.backends = {{.port = origin_->port()}}, .settings = "timeouts: {" + timeouts + "}\n"};
  }
  static double hits(const std::string& limit) {
    return gateway_->metric("sluice_limit_hits_total{limit=\"" + limit + "\"}");
  }
  /// Expects that the connection ends with `code` and that `limit` was counted.
  static void expectEnd(H2Client& client, std::uint32_t code, const std::string& limit = {}, double before = 0) {
    EXPECT_TRUE(client.readToEnd());
    EXPECT_EQ(client.goawayCode(), code);
    if (limit.empty()) return;
    EXPECT_TRUE(gateway_->reaches("sluice_limit_hits_total{limit=\"" + limit + "\"}", before + 1)) << limit;
  }
  static std::atomic<int> waiting_;
  static RawOrigin* origin_;
  static GatewayProcess* gateway_;
};

std::atomic<int> H2Attacks::waiting_ = 0;
RawOrigin* H2Attacks::origin_ = nullptr;
GatewayProcess* H2Attacks::gateway_ = nullptr;

TEST_F(H2Attacks, RapidResetEndsTheConnectionAndTheWorkBehindIt) {
  const double before = hits("resetsPerMinute");
  H2Client client(gateway_->port());
  std::uint32_t id = 1;
  for (; id < 101; id += 2) client.send(h2::headers(id, h2::get("/wait"), true));
  ASSERT_TRUE(eventually([] { return waiting_ == 50; }));
  for (std::uint32_t one = 1; one < 101; one += 2) client.send(h2::rstStream(one, h2error::kCancel));
  ASSERT_TRUE(eventually([] { return waiting_ == 0; })) << "a reset cancels at once";
  std::string flood;
  for (; id < 2001; id += 2) flood += h2::headers(id, h2::get("/wait"), true) + h2::rstStream(id, h2error::kCancel);
  client.send(flood);
  expectEnd(client, h2error::kEnhanceYourCalm, "resetsPerMinute", before);
}

TEST_F(H2Attacks, ResetsThatTheClientProvokesCountAsItsOwn) {
  const double before = hits("resetsPerMinute");
  H2Client client(gateway_->port());
  for (std::uint32_t id = 1; id < 1001 && !client.closed(); id += 2) {
    if (!client.send(h2::headers(id, h2::get("/wait"), true) + h2::windowUpdate(id, 0x7fffffff))) break;
    client.readUntil([&] { return client.isSettled(id); });
  }
  expectEnd(client, h2error::kEnhanceYourCalm, "resetsPerMinute", before);
}

TEST_F(H2Attacks, OtherWaysToProvokeAResetHarmTheirSenderOnly) {
  for (const std::string& provocation :
       {h2::windowUpdate(1, 0), h2::data(1, "x", false), h2::priority(1, 1), h2::headers(1, h2::get("/wait"), false)}) {
    H2Client client(gateway_->port());
    client.send(h2::headers(1, h2::get("/wait"), true));
    ASSERT_TRUE(eventually([] { return waiting_ == 1; }));
    client.send(provocation + h2::ping());
    EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1) || client.seen().count(H2Type::kPing) > 0; }));
    client.reset();
    EXPECT_TRUE(eventually([] { return waiting_ == 0; }));
  }
}

TEST_F(H2Attacks, ContinuationsWithoutEndAreCutOff) {
  for (const bool empty : {false, true}) {
    const double before = hits("headerBytes") + hits("emptyFrames");
    H2Client client(gateway_->port());
    sendWhileTaken(client, endlessBlock(empty ? "" : h2::line("x-a", std::string(50, 'y'))), 100);
    EXPECT_TRUE(client.readToEnd());
    EXPECT_THAT(client.goawayCode(), AnyOf(h2error::kEnhanceYourCalm, H2Client::kNoGoaway))
        << "bytes in flight may reset it";
    EXPECT_TRUE(eventually([&] { return hits("headerBytes") + hits("emptyFrames") > before; }));
    EXPECT_EQ(client.status(1), "");
  }
}

TEST_F(H2Attacks, AHeadThatDripsIsEndedByItsTimeout) {
  const GatewayProcess gateway(specOf("requestHeader: 300ms"));
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::block(h2::get("/wait")), true, false));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_NE(client.seen().goaway(), nullptr);
  EXPECT_TRUE(servesFine(gateway.port()));
}

TEST_F(H2Attacks, AClientThatReadsNothingIsClosedAsIdle) {
  const GatewayProcess gateway(specOf("clientIdle: 1s"));
  for (const std::string& flood : provocations()) {
    H2Client client(gateway.port());
    sendWhileTaken(client, flood, 20);
    EXPECT_TRUE(client.readToEnd()) << "it neither reads nor says anything new, so it is idle";
  }
  EXPECT_TRUE(eventually([&] { return servesFine(gateway.port()); }))
      << "a client that sends its request within clientIdle is served";
}

TEST_F(H2Attacks, MoreThan32SettingsAreTooMany) {
  H2Client client(gateway_->port());
  client.send(h2::settings(std::vector<std::pair<std::uint16_t, std::uint32_t>>(33, {0x4, 65535})));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_NE(client.seen().goaway(), nullptr);
}

TEST_F(H2Attacks, EmptyFramesInARowAreBounded) {
  const double before = hits("emptyFrames");
  H2Client client(gateway_->port());
  client.send(h2::headers(1, h2::post("/wait"), false));
  std::string flood;
  for (int i = 0; i < 200; ++i) flood += h2::data(1, "", false);
  client.send(flood);
  expectEnd(client, h2error::kEnhanceYourCalm, "emptyFrames", before);
}

TEST_F(H2Attacks, AnHpackBombIsMeasuredByItsDecodedSize) {
  for (const int references : {20, 16'000}) {
    const double before = hits("headerBytes");
    H2Client client(gateway_->port());
    client.send(hpackBomb(references));
    ASSERT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
    EXPECT_THAT(client.status(1), references < 100 ? "431" : "");
    EXPECT_TRUE(eventually([&] { return hits("headerBytes") > before; }));
  }
}

TEST_F(H2Attacks, CookieCrumbsCountAsFields) {
  const double before = hits("headerFields");
  const auto client = crumble(gateway_->port());
  EXPECT_TRUE(client->readUntil([&] { return client->isSettled(199); }));
  EXPECT_THAT(client->status(199), AnyOf("431", ""));
  EXPECT_TRUE(eventually([&] { return hits("headerFields") > before; }));
}

TEST_F(H2Attacks, FramesAfterTheEndOfAStreamAreIgnored) {
  H2Client client(gateway_->port());
  std::string bytes = h2::headers(1, h2::block(h2::get("/wait")), true, false);
  for (int i = 0; i < 50; ++i) bytes += h2::continuation(1, "", false);
  client.send(bytes + h2::frame(H2Type::kPing, h2flag::kNone, 0, "short") + std::string(64, '\xff') +
              h2::headers(3, h2::get("/wait"), true));
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.status(3), "");
}

TEST_F(H2Attacks, DataAfterAResetMovesNothing) {
  for (int connection = 0; connection < 50; ++connection) {
    H2Client client(gateway_->port());
    std::string bytes;
    for (std::uint32_t id = 1; id < 401; id += 2) {
      bytes += h2::headers(id, h2::post("/wait"), false) + h2::rstStream(id, h2error::kCancel) +
               h2::data(id, "zombie", true);
    }
    client.send(bytes + h2::headers(401, h2::get("/fine"), true));
    ASSERT_TRUE(client.readUntil([&] { return client.isSettled(401); }));
    EXPECT_EQ(client.status(401), "200");
  }
}

TEST_F(H2Attacks, WindowsAndSizesBeyondTheirRangeEndTheConnection) {
  const std::string big(16'385, 'x');
  const struct {
    std::string bytes;
    std::uint32_t code;
  } kCases[] = {
      {h2::windowUpdate(0, 0x7fffffff) + h2::windowUpdate(0, 0x7fffffff), h2error::kFlowControlError},
      {h2::windowUpdate(0, 0), h2error::kProtocolError},
      {h2::settings({{0x4, 0x80000000}}), h2error::kFlowControlError},
      {h2::settings({{0x5, 16'383}}), h2error::kProtocolError},
      {h2::settings({{0x5, 0x1000000}}), h2error::kProtocolError},
      {h2::settings({{0x2, 2}}), h2error::kProtocolError},
      {h2::headers(1, h2::post("/wait"), false) + h2::data(1, big, false), h2error::kFrameSizeError},
      {h2::frame(H2Type::kSettings, h2flag::kNone, 0, "12345"), h2error::kFrameSizeError},
      {h2::frame(H2Type::kPing, h2flag::kNone, 0, "1234567"), h2error::kFrameSizeError},
      {h2::frame(H2Type::kPing, h2flag::kNone, 1, "12345678"), h2error::kProtocolError},
      {h2::headers(2, h2::get("/wait"), true), h2error::kProtocolError},
      {h2::data(0, "x", false), h2error::kProtocolError},
      {h2::headers(0, h2::get("/wait"), true), h2error::kProtocolError},
      {h2::frame(H2Type::kPushPromise, h2flag::kEndHeaders, 1, std::string("\0\0\0\2", 4)), h2error::kProtocolError},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(&c - kCases);
    H2Client client(gateway_->port());
    client.send(c.bytes);
    EXPECT_TRUE(client.readToEnd());
    EXPECT_EQ(client.goawayCode(), c.code);
  }
  H2Client overflow(gateway_->port());
  overflow.send(h2::headers(1, h2::get("/wait"), true) + h2::windowUpdate(1, 0x7fffffff));
  EXPECT_TRUE(overflow.readUntil([&] { return overflow.isSettled(1); }));
  ASSERT_NE(overflow.seen().find(H2Type::kRstStream, 1), nullptr);
  EXPECT_EQ(overflow.seen().find(H2Type::kRstStream, 1)->errorCode(), h2error::kFlowControlError);
}

TEST_F(H2Attacks, ProtocolsAreNotChangedMidway) {
  const std::string get = "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string frames = h2::settings({}) + h2::headers(1, h2::get("/smug"), true);
  const std::string tls = std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + std::string(600, 'x');
  const GatewayProcess gateway(specOf("requestHeader: 300ms"));
  for (const std::string& bytes :
       {get + std::string(h2::preface()) + frames, frames, tls, std::string("GET /fine\r\n"),
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n" + frames, "PRI * HTTP/1.1\r\nHost: a\r\n\r\n" + frames}) {
    SCOPED_TRACE(bytes.substr(0, 40));
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(bytes);
    EXPECT_TRUE(!bytes.starts_with(get) || readResponse(client).status == 200);
    EXPECT_THAT(readResponse(client).status, AnyOf(400, 408, 505)) << "408: it looked like a head that goes on";
    EXPECT_EQ(client.readAll(), "");
    EXPECT_TRUE(client.closed());
  }
  H2Client back(gateway.port());
  back.send(get);
  EXPECT_TRUE(back.readToEnd());
  H2Client twice(gateway.port());
  twice.send(h2::preface());
  EXPECT_TRUE(twice.readToEnd());
  EXPECT_TRUE(servesFine(gateway.port()));
  for (const std::string& head : origin_->heads()) EXPECT_THAT(head, testing::Not(testing::HasSubstr("smug")));
}

// An origin that counts resets the way the gateway does would end the connection that all clients share.
TEST(H2Neighbours, AreNotHarmedByClientsThatCancelTheirRequests) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"), {"--h2-only"});
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}}});
  BlockingSocket neighbour = BlockingSocket::connect(gateway.port());
  neighbour.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nfirst");
  EXPECT_THAT(neighbour.readUntil("first"), testing::HasSubstr("200 OK"));
  constexpr std::uint32_t kCancelled = 150;  // by each of several clients; fewer than the gateway's own limit
  for (int i = 0; i < 4; ++i) {
    H2Client client(gateway.port());
    for (std::uint32_t stream = 1; stream < 2 * kCancelled; stream += 2) {
      client.send(h2::headers(stream, h2::post("/echo"), false));
      ASSERT_TRUE(client.readFrame(H2Type::kHeaders, stream));
      ASSERT_EQ(client.status(stream), "200");
      client.send(h2::rstStream(stream, h2error::kCancel));
    }
    ASSERT_TRUE(client.isServed());
  }
  neighbour.send("again");
  EXPECT_THAT(neighbour.readUntil("again"), testing::EndsWith("again"));
}

// Measures what the attacks leave in memory. The sanitizers keep freed memory, so their builds are not measured.
TEST(H2Footprint, NothingOfAnAttackStaysInMemory) {
  if (programPath("sluice", true) == programPath("sluice")) GTEST_SKIP() << "build/release is not there";
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .release = true});
  const auto resident = [&] { return gateway.process().residentKib(); };
  const auto expectSmall = [&, before = resident()](const char* what, std::size_t boundMib = 5) {
    EXPECT_LT(resident(), before + boundMib * 1024) << what;
  };
  for (const bool empty : {false, true}) {
    H2Client client(gateway.port());
    sendWhileTaken(client, endlessBlock(empty ? "" : h2::line("x-a", std::string(50, 'y'))), 100);
    expectSmall("continuations");
  }
  std::vector<std::unique_ptr<H2Client>> clients;
  for (const std::string& flood : provocations()) {
    clients.push_back(std::make_unique<H2Client>(gateway.port()));
    sendWhileTaken(*clients.back(), flood, 20, std::chrono::milliseconds(300));
    expectSmall("answers that nobody reads");
  }
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<H2Client>(gateway.port()));
    clients.back()->send(hpackBomb(16'000));
    clients.push_back(crumble(gateway.port()));
  }
  for (const auto& client : clients)
    client->readUntil([&] { return client->isSettled(1); }, std::chrono::milliseconds(200));
  // 500 streams that wait for a window hold 8 MiB at most, although the requests here decode to 400 MiB.
  expectSmall("bombs behind closed windows", 16);
}

}  // namespace
}  // namespace sluice::test
