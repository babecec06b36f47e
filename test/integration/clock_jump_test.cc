// Tests a wall clock that jumps a year forward and back: deadlines do not depend on it, certificates and log times do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/wall_clock.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kYear = std::chrono::hours(24 * 365);

TEST(ClockJump, EndsNoExchangeAndDelaysNone) {
  std::atomic<bool> asked = false;
  std::atomic<bool> go = false;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      asked = true;
      asked.notify_all();
      go.wait(false);
      socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  WallClock clock;
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .settings = "timeouts: {requestHeader: 200ms}\n",
                          .startedBy = clock.startedBy()});
  BlockingSocket idle = BlockingSocket::connect(gateway.port());
  BlockingSocket busy = BlockingSocket::connect(gateway.port());
  busy.send(kGet);
  asked.wait(false);
  int drips = 0;
  for (const auto by : {kYear, -kYear, 0 * kYear}) {
    clock.setOff(by);
    BlockingSocket dripping = BlockingSocket::connect(gateway.port());
    dripping.send("GET / HTTP/1.1\r\nHost");
    EXPECT_EQ(readResponse(dripping).status, 408) << "in its time, whatever the date";
    EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"requestHeader\"}", ++drips));
    EXPECT_EQ(gateway.limitHits("requestHeader"), drips) << "the others wait on";
  }
  clock.setOff(kYear);
  go = true;
  go.notify_all();
  EXPECT_EQ(readResponse(busy).status, 200);
  EXPECT_EQ(askRaw(busy).status, 200);
  EXPECT_EQ(askRaw(idle).status, 200);
  for (const char* limit : {"clientIdle", "streamIdle", "upstreamIdle", "connect"}) {
    EXPECT_EQ(gateway.limitHits(limit), 0) << limit;
  }
}

TEST(ClockJump, IsSeenByTheAccessLogButNotByItsDurations) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  WallClock clock;
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .startedBy = clock.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  std::vector<std::string> years;
  std::size_t asked = 0;
  for (const auto by : {0 * kYear, 2 * kYear, -2 * kYear}) {
    clock.setOff(by);
    ASSERT_EQ(askRaw(client).status, 200);
    // The access log line is written when the exchange is over, slightly later than its last byte.
    ++asked;
    ASSERT_EQ(gateway.accessLog(asked).size(), asked);
  }
  const std::vector<std::string> lines = gateway.accessLog(asked);
  for (const std::string& line : lines) {
    years.push_back(line.substr(std::string("{\"time\":\"").size(), 4));
    const std::size_t at = line.find("\"duration_ms\":") + std::string("\"duration_ms\":").size();
    EXPECT_GE(std::stod(line.substr(at)), 0);
    EXPECT_LT(std::stod(line.substr(at)), 60'000);
  }
  EXPECT_GT(years[1], years[0]);
  EXPECT_LT(years[2], years[0]);
}

TEST(ClockJump, ExpiresCertificatesAndMakesThemValidAgain) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  WallClock clock;
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root.certificate}},
                                .settings = "timeouts: {upstreamIdle: 50ms}\n",
                                .startedBy = clock.startedBy()});
  int closed = 0;
  for (int i = 0; i < 2; ++i) {
    clock.setOff(std::chrono::seconds(0));
    EXPECT_EQ(run({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", gateway.url("/")}).output, "200");
    // An established connection stays usable; the next one is verified anew.
    EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"upstreamIdle\"}", ++closed));
    for (const auto by : {kYear, -kYear}) {
      clock.setOff(by);
      EXPECT_THAT(run({"curl", "-sS", gateway.url("/")}).output, HasSubstr("\"tls_certificate_error\""));
    }
  }
}

}  // namespace
}  // namespace sluice::test
