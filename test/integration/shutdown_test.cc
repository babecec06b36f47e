// Tests SIGTERM under load: the gateway exits with 0 and without a sanitizer's report, whatever is in flight.
// GatewayProcess' destructor sends the signal and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

class ShutdownUnderLoad : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Clients, ShutdownUnderLoad, testing::Values("--h1", "--no-tls-proto=h2c"),
                         [](const auto& given) { return given.param == std::string("--h1") ? "Http11" : "Http2"; });

TEST_P(ShutdownUnderLoad, EndsInOrder) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  std::unique_ptr<ChildProcess> load;
  {
    const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root.certificate}},
                                  .settings = "drainTimeout: 1s\n",
                                  .workers = 2});
    load = std::make_unique<ChildProcess>(std::vector<std::string>{"h2load", GetParam(), "-c", "20", "-m", "10", "-n",
                                                                   "100000000", gateway.url("/bytes/20000")});
    EXPECT_TRUE(gateway.reaches("http_server_request_duration_seconds_count", 200));
  }
  EXPECT_GE(load->wait(), 0) << "its connections are over";
}

TEST(Shutdown, EndsWhateverIsInFlight) {
  RawOrigin silent([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  RawOrigin mute([](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); });
  std::vector<BlockingSocket> clients;
  {
    const GatewayProcess gateway(
        {.backends = {{.port = silent.port()},
                      {.name = "mute", .hostname = "mute.test", .port = mute.port(), .ca = makeAuthority().certificate},
                      {.name = "gone", .hostname = "gone.test", .port = freePort()}},
         .settings = "drainTimeout: 200ms\ntimeouts: {connect: 60s}\n",
         .routes = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\n"
                   "spec:\n  parentRefs: [{name: egress}]\n  rules:\n"
                   "    - backendRefs:\n"
                   "        - {group: gateway.networking.k8s.io, kind: Backend, name: origin}\n"
                   "        - {group: gateway.networking.k8s.io, kind: Backend, name: mute}\n"
                   "        - {group: gateway.networking.k8s.io, kind: Backend, name: gone}\n",
         .tls = issueServer(makeAuthority(), "listener.test"),
         .workers = 3});
    const std::vector<std::string> beginnings = {
        "",
        "P",
        "GET / HTTP/1.1\r\nHost",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + std::string(1000, 'x'),
        std::string(h2::preface()),
        h2::clientHello() + h2::headers(1, h2::post(), false) + h2::data(1, "abc", false)};
    // With this many requests, the weights send some to the Backend that never answers.
    for (int i = 0; i < 12; ++i) {
      for (const std::string& beginning : beginnings) {
        clients.push_back(BlockingSocket::connect(gateway.port()));
        clients.back().send(beginning);
      }
      clients.push_back(BlockingSocket::connect(gateway.tlsPort()));
      clients.back().send(std::string("\x16\x03\x01\x02", 4));
    }
    EXPECT_TRUE(gateway.reaches(
        "http_server_active_requests{gateway=\"test/egress\",route=\"test/all\",backend=\"test/mute\"", 1));
  }
}

}  // namespace
}  // namespace sluice::test
