// Tests clients of one address that take the places of a Backend or of a processor's server (limits.backendRequests),
// and hold them by uploads and responses that do not move. Clients of another address are served meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

constexpr const char* kVictim = "127.0.0.2";
constexpr std::uint32_t kStreamsEach = 100;  // limits.concurrentStreams
// The gateway does not buffer a whole response of this size while the client does not read it, so that the request
// keeps its place in limits.backendRequests. Larger ones would measure the Backend, which has to write all of them
// before it reads the victim's request.
constexpr const char* kUnread = "/bytes/300000";

int places() { return inThisRun(60, 1024); }
int attackers() { return inThisRun(90, 1200); }

bool isServedElsewhere(std::uint16_t port, const std::string& request = kGet) {
  BlockingSocket client = BlockingSocket::connect(port, 0, kVictim);
  return askRaw(client, request).status == 200;
}

/// Begins uploads that go no further. The clients' address is not the victim's.
std::vector<BlockingSocket> beginUploads(std::uint16_t port, const std::string& path, int count) {
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(BlockingSocket::connect(port));
    clients.back().send("POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc");
  }
  return clients;
}

/// Begins responses that their clients do not read, on as few connections as possible.
std::vector<std::unique_ptr<H2Client>> beginResponses(std::uint16_t port) {
  std::vector<std::unique_ptr<H2Client>> clients;
  const std::string hello = std::string(h2::preface()) + h2::settings({{0x4, 0}}) + h2::settingsAck();
  for (auto left = static_cast<std::uint32_t>(attackers()); left > 0;) {
    const std::uint32_t here = std::min(left, kStreamsEach);
    left -= here;
    H2Client& client = *clients.emplace_back(std::make_unique<H2Client>(port, hello));
    for (std::uint32_t i = 0; i < here; ++i) client.send(h2::headers(2 * i + 1, h2::get(kUnread), true));
    EXPECT_TRUE(client.isServed());
  }
  return clients;
}

/// Returns the series of the connections of this Backend that have a request, for which the processors have decided.
std::string busyAt(const std::string& backend) {
  return "http_client_open_connections{backend=\"test/" + backend + "\",http_connection_state=\"active\"}";
}

class HeldPlaces : public testing::TestWithParam<int> {
 protected:
  GatewaySpec spec() const {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.settings = limits("backendRequests: " + std::to_string(places()));
    spec.workers = GetParam();
    return spec;
  }
  std::function<bool()> victimOf(const GatewayProcess& gateway) {
    return [&gateway] { return isServedElsewhere(gateway.port()); };
  }
  bool isFull(const GatewayProcess& gateway) {
    return eventually([&] { return askRaw(gateway.port()).status == 503; });
  }

  const EchoOrigin origin_{std::nullopt};
};
INSTANTIATE_TEST_SUITE_P(Workers, HeldPlaces, testing::Values(1, 2));

TEST_P(HeldPlaces, BySlowUploadsAreGivenToOthers) {
  GatewayProcess gateway(spec());
  Attack attack(gateway, victimOf(gateway), {.waits = std::chrono::milliseconds(1500)});
  const auto uploads = beginUploads(gateway.port(), "/", attackers());
  ASSERT_TRUE(isFull(gateway)) << "the attack stands";
  attack.stands();
  EXPECT_TRUE(isServedElsewhere(gateway.port(), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"));
  EXPECT_TRUE(gateway.limitWasHit("backendRequests"));
}

TEST_P(HeldPlaces, ByUnreadResponsesAreGivenToOthers) {
  GatewayProcess gateway(spec());
  Attack attack(
      gateway, victimOf(gateway),
      {.grownKib = static_cast<std::size_t>(attackers()) * 96 + 32 * 1024, .waits = std::chrono::milliseconds(1500)});
  const auto responses = beginResponses(gateway.port());
  ASSERT_TRUE(isFull(gateway)) << "the attack stands";
  attack.stands();
}

// The server has answered to the heads of all uploads, and waits for those of the responses.
TEST_P(HeldPlaces, OfAServerThatSeesHeadsAloneAreNotHeldByUploads) {
  const ExtProcServer guard;
  GatewaySpec spec = this->spec();
  spec.backends.push_back({.name = "guard", .hostname = "guard.test", .port = guard.port()});
  const std::string filters =
      "      filters: [" +
      inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 10s, config: {backendRefs: [" +
              backendRef("guard") + "], processingMode: {requestHeaders: Send, responseHeaders: Send}}}") +
      "]\n";
  // None of the Backends is full.
  const std::vector<std::string> names = {"one", "two", "three"};
  std::string rules;
  for (const std::string& name : names) {
    spec.backends.push_back({.name = name, .hostname = name + ".test", .port = origin_.port()});
    rules += "    - matches: [{path: {type: PathPrefix, value: /" + name + "}}]\n" + filters + "      backendRefs: [" +
             backendRef(name) + "]\n";
  }
  spec.routes = routeOfRules(rules);
  GatewayProcess gateway(spec);
  Attack attack(gateway,
                [&gateway] { return isServedElsewhere(gateway.port(), "GET /one HTTP/1.1\r\nHost: a\r\n\r\n"); });
  std::vector<std::vector<BlockingSocket>> uploads;
  for (const std::string& name : names) {
    uploads.push_back(beginUploads(gateway.port(), "/" + name, attackers() / 3));
    EXPECT_TRUE(gateway.reaches(busyAt(name), attackers() / 3)) << "the attack stands";
  }
  attack.stands();
  EXPECT_EQ(gateway.limitHits("backendRequests"), 0);
}

}  // namespace
}  // namespace sluice::test
