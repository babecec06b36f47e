// Attacks at the door, by what a client says of its request: each one beside a victim, whose request ends while the
// attack stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPastBodyIdle(61);

/// A gateway whose Backend takes two requests at once, and whose clients have a minute for a kilobyte of their bodies.
struct NarrowBackend {
  explicit NarrowBackend(std::uint16_t port)
      : gateway({.backends = {{.port = port}},
                 .settings = limits("backendRequests: 2") + onlyTimeouts("bodyIdle: 60s"),
                 .startedBy = time.startedBy()}) {}
  PassedTime time;
  Gateway gateway;
};

// gRPC streams may be quiet for long, so bodyIdle lets them. HTTP/1.1 carries no gRPC, and a name buys no patience.
TEST(EdgeAttacks, AContentTypeOfGrpcOverHttp11DoesNotHoldTheBackendsRoom) {
  HeldOrigin origin;
  NarrowBackend narrow(origin.port());
  std::vector<Socket> attackers;
  for (int i = 0; i < 2; ++i) {
    attackers.push_back(Socket::connect(narrow.gateway.port()));
    attackers.back().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nContent-Length: 9\r\n\r\n");
  }
  ASSERT_TRUE(origin.wasAsked(2));
  EXPECT_EQ(askRaw(narrow.gateway.port()).status, 503) << "the attack stands";
  narrow.time.pass(narrow.gateway, kPastBodyIdle);
  for (Socket& attacker : attackers) EXPECT_EQ(readResponse(attacker).status, 408);
  EXPECT_TRUE(narrow.gateway.reaches("sluice_limit_hits_total{limit=\"bodyIdle\"}", 2));
  for (int i = 0; i < 3; ++i) origin.answer();
  EXPECT_EQ(askRaw(narrow.gateway.port()).status, 200) << "the victim";
}

}  // namespace
}  // namespace sluice::test
