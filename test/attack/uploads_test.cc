// Tests clients that go on to upload behind their responses, for as long as they are let.
#include <gtest/gtest.h>

#include <string>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/route.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

constexpr std::uint32_t kAnsweredUploads = 100;  // limits.concurrentStreams
constexpr std::size_t kPieceOfUpload = 5000;     // one of each fits into half of limits.connectionWindow

/// Begins as many uploads as a client may have, from this stream on, and reads their answers.
void beginAnsweredUploads(H2Client& client, std::uint32_t first) {
  for (std::uint32_t i = 0; i < kAnsweredUploads; ++i)
    client.send(h2::headers(first + 2 * i, h2::post("/nowhere"), false));
  EXPECT_TRUE(client.readStream(first + 2 * (kAnsweredUploads - 1)));
  EXPECT_EQ(client.status(first), "404");
}

/// Sends a piece of each of these uploads in turn, until so many streams were reset in all, or the connection has
/// ended. Returns how many bytes were sent.
std::size_t uploadUntilReset(H2Client& client, std::uint32_t first, std::size_t resets) {
  const std::string piece(kPieceOfUpload, 'x');
  std::size_t sent = 0;
  while (client.seen().count(H2Type::kRstStream) < resets && !client.closed()) {
    for (std::uint32_t i = 0; i < kAnsweredUploads; ++i) {
      client.send(h2::data(first + 2 * i, piece, false));
      sent += piece.size();
    }
    if (!client.isServed()) break;
  }
  return sent;
}

TEST(EndlessUploads, BehindTheirAnswersAreCutWithinTheirBoundsAndThenTheirConnectionIs) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .settings = "timeouts: {drain: 24h}\n",
                          .routes = routeOfRules(ruleOfPrefix("/bytes", "origin")),
                          .release = true});
  const auto victim = [&gateway] {
    H2Client other(gateway.port());
    other.send(h2::headers(1, h2::get("/bytes/1000"), true));
    return other.readStream(1) && other.seen().body(1).size() == 1000;
  };
  Attack attack(gateway, victim, {.grownKib = 32 * 1024});
  H2Client client(gateway.port());
  client.send(h2::windowUpdate(0, 1 << 20));  // for the answers
  std::uint32_t first = 1;
  for (std::size_t round = 1; round <= 2; ++round, first += 2 * kAnsweredUploads) {
    beginAnsweredUploads(client, first);
    if (round == 1) attack.stands();
    // 4 MiB are drained, which are nine pieces of most; then each further piece ends its upload.
    EXPECT_LE(uploadUntilReset(client, first, round * kAnsweredUploads), 12 * kAnsweredUploads * kPieceOfUpload);
    EXPECT_EQ(client.seen().count(H2Type::kRstStream), round * kAnsweredUploads);
  }
  attack.stands();
  EXPECT_EQ(client.goawayCode(), H2Client::kNoGoaway);
  beginAnsweredUploads(client, first);
  uploadUntilReset(client, first, 3 * kAnsweredUploads);
  EXPECT_TRUE(client.readToEnd());
  EXPECT_EQ(client.goawayCode(), h2error::kEnhanceYourCalm);
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"drainBytes\"}", 2.0 * kAnsweredUploads));
  EXPECT_TRUE(gateway.limitWasHit("resetsPerMinute"));
  attack.stands();
}

}  // namespace
}  // namespace sluice::test
