// Tests clients that have wrong passwords checked as fast as they can, which takes the one thread that checks
// passwords. Clients of other addresses are served meanwhile, those whose password was not checked before, too.
#include "test/support/passwords.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

constexpr const char* kElsewhere = "127.0.0.2";
// The hash of "secret" at a cost of some 50 ms, made by crypt(3).
constexpr const char* kHash = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u";

std::string getAs(const std::string& user, const std::string& password) {
  return "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic(user, password) + "\r\n\r\n";
}

int statusFrom(std::uint16_t port, const std::string& address, const std::string& request) {
  BlockingSocket client = BlockingSocket::connect(port, 0, address.c_str());
  return askRaw(client, request).status;
}

/// Sends requests with a new wrong password each, on several connections, until it is destroyed.
class PasswordFlood {
 public:
  explicit PasswordFlood(std::uint16_t port) {
    for (int number = 0; number < 32; ++number) {
      threads_.emplace_back([this, port, number] {
        BlockingSocket client = BlockingSocket::connect(port);
        for (int i = 0; !ends_; ++i) {
          const auto answer = askRaw(client, getAs("ann", std::to_string(number) + "-" + std::to_string(i)));
          if (answer.status == 503) ++refused_;
          if (answer.status == 401) ++checked_;
          if (answer.status == 0) client = BlockingSocket::connect(port);
        }
      });
    }
  }
  ~PasswordFlood() {
    ends_ = true;
    for (std::thread& each : threads_) each.join();
  }
  PasswordFlood(const PasswordFlood&) = delete;
  PasswordFlood& operator=(const PasswordFlood&) = delete;
  int refused() const { return refused_; }
  int checked() const { return checked_; }

 private:
  std::atomic<bool> ends_ = false;
  std::atomic<int> refused_ = 0;
  std::atomic<int> checked_ = 0;
  std::vector<std::thread> threads_;
};

class FloodedPasswords : public testing::TestWithParam<int> {
 protected:
  /// Returns a gateway whose users "ann", "u0", "u1" and so on have the same password.
  GatewaySpec spec() const {
    std::string users = "ann:" + std::string(kHash);
    for (int i = 0; i < 500; ++i) users += "\\nu" + std::to_string(i) + ":" + kHash;
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.settings = limits("passwordChecks: 16");
    spec.workers = GetParam();
    spec.routes =
        routeOfRules("    - " + backendRefs().substr(6)) + secretOf("users", ".htpasswd: \"" + users + "\"") +
        egressPolicy("p", kGatewayTarget, "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}");
    return spec;
  }
  /// Returns true if a user who was served before is served, and one whose password was never checked.
  bool isVictimServed(std::uint16_t port) {
    const std::string next = "u" + std::to_string(next_++);
    return statusFrom(port, kElsewhere, getAs("ann", "secret")) == 200 &&
           statusFrom(port, kElsewhere, getAs(next, "secret")) == 200;
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  int next_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Workers, FloodedPasswords, testing::Values(1, 2));

TEST_P(FloodedPasswords, KeepNoOtherClientWaiting) {
  GatewayProcess gateway(spec());
  Attack attack(gateway, [&] { return isVictimServed(gateway.port()); },
                {.cpuSeconds = 120, .waits = std::chrono::milliseconds(1000)});
  const PasswordFlood flood(gateway.port());
  ASSERT_TRUE(eventually([&] { return flood.refused() > 0; })) << "the attack stands: it has its whole share";
  attack.stands();
  EXPECT_TRUE(gateway.limitWasHit("passwordChecks"));
  EXPECT_TRUE(eventually([&] { return flood.checked() > 0; }));
}

}  // namespace
}  // namespace sluice::test
