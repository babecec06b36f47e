// Reloads five hundred times under load, changing every table each time: not one request may fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr int kReloads = 500;

class ReloadsUnderLoad : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Clients, ReloadsUnderLoad, testing::Values("--h1", "--no-tls-proto=h2c"),
                         [](const auto& given) { return given.param == std::string("--h1") ? "Http11" : "Http2"; });

TEST_P(ReloadsUnderLoad, FailNoRequestInFiveHundredReloads) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin one(issueServer(root, "origin.test"), {}, true);
  const EchoOrigin two(issueServer(root, "origin.test"), {}, true);
  GatewaySpec spec;
  spec.backends = {{.port = one.port(), .ca = root.certificate}};
  spec.workers = 2;
  spec.release = true;
  GatewayProcess gateway(spec);

  std::atomic<bool> reloading = true;
  int rounds = 0;
  std::thread load([&] {
    do {
      const ProgramOutcome got =
          run({"h2load", "-n10000", "-c20", "-t1", "-m10", GetParam(), gateway.url("/bytes/1000")},
              std::chrono::seconds(240));
      EXPECT_THAT(got.output, HasSubstr("10000 succeeded, 0 failed, 0 errored, 0 timeout")) << got.errors;
      EXPECT_THAT(got.output, HasSubstr("10000 2xx, 0 3xx, 0 4xx, 0 5xx"));
      ++rounds;
    } while (reloading && !HasFailure());
  });
  for (int i = 1; i <= kReloads && !HasFailure(); ++i) {
    spec.backends[0].port = i % 4 < 2 ? one.port() : two.port();  // every second reload also changes the Backend
    spec.settings = "timeouts: {streamIdle: " + std::to_string(300 + i) + "s}\n";
    gateway.reload(spec);
  }
  reloading = false;
  load.join();
  EXPECT_EQ(gateway.metric("sluice_config_reloads_total{result=\"success\"}"), kReloads);
  EXPECT_EQ(gateway.metric("sluice_config_reloads_total{result=\"failure\"}"), 0);
  EXPECT_GT(rounds, 1);
}

}  // namespace
}  // namespace sluice::test
