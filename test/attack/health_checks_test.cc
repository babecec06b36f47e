// Tests attacks by health checks: a tenant makes a thousand Backends that all lead to one third party, and has each of
// them checked as often as it may be. The victims are the third party, and another tenant whose own Backend is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

constexpr int kCrowd = 1000;
constexpr int kAtOnce = 16;  // most backendRefs of a rule, and most rules of a route

class HealthCheckAttacks : public testing::Test {
 protected:
  /// Starts the gateway. Each Backend of the crowd sends its own bytes to the third party if `differ` is set, and else
  /// they all ask the same.
  std::unique_ptr<GatewayProcess> attacked(bool differ, const std::string& settings) {
    GatewaySpec spec;
    spec.release = true;
    spec.accessLog = "off";
    spec.settings = settings;
    spec.backends = {{.name = "checked", .hostname = "checked.test", .port = victim_.port()},
                     {.name = "third", .hostname = "third.test", .port = third_.port()}};
    spec.listeners = "    - {name: open, protocol: HTTP, port: " + std::to_string(freePort()) +
                     ", allowedRoutes: {namespaces: {from: All}}}\n";
    spec.routes = routeOfRules("    - backendRefs: [" + backendRef("checked") + "]\n") +
                  "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: p}\n"
                  "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
                  "  healthCheck: {active: {type: TCP, interval: 1s}}\n" +
                  crowd(differ);
    return std::make_unique<GatewayProcess>(spec);
  }
  bool isCheckedAgain(int times) {
    const int before = victim_.connections();
    return eventually([&] { return victim_.connections() >= before + times; });
  }

  RawOrigin victim_{[](BlockingSocket& /*socket*/, RawOrigin& /*self*/) {}};
  RawOrigin third_{[](BlockingSocket& /*socket*/, RawOrigin& /*self*/) {}};

 private:
  /// Returns the Backends of the other tenant, and routes that use them.
  std::string crowd(bool differ) const {
    std::string text;
    for (int i = 0; i < kCrowd; ++i) {
      const std::string number = std::to_string(i);
      text +=
          "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: crowd, name: b" + number +
          "}\nspec:\n  destination: {type: FQDN, fqdn: {hostname: third.test, port: " + std::to_string(third_.port()) +
          "}}\n  healthCheck: {active: {type: TCP, interval: 1ms, tcp: {send: {type: Text, text: \"bytes" +
          (differ ? number : "") + "\"}}}}\n";
    }
    for (int route = 0; route * kAtOnce * kAtOnce < kCrowd; ++route) {
      text += "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: crowd, name: r" +
              std::to_string(route) +
              "}\nspec:\n  parentRefs: [{namespace: test, name: egress, sectionName: open}]\n  rules:\n";
      for (int rule = 0; rule < kAtOnce; ++rule) text += ruleOf((route * kAtOnce + rule) * kAtOnce);
    }
    return text;
  }
  static std::string ruleOf(int first) {
    std::string refs;
    for (int i = first; i < std::min(first + kAtOnce, kCrowd); ++i) {
      refs += (refs.empty() ? "" : ", ") + ("{group: sluice.dev, kind: Backend, name: b" + std::to_string(i)) + "}";
    }
    if (refs.empty()) return "";
    return "    - matches: [{path: {type: PathPrefix, value: /r" + std::to_string(first) + "}}]\n      backendRefs: [" +
           refs + "]\n";
  }
};

TEST_F(HealthCheckAttacks, AThirdPartyIsAskedTheSameOnceASecond) {
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<GatewayProcess> gateway = attacked(false, "");
  ASSERT_TRUE(isCheckedAgain(1));
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(third_.connections(), 1);
  EXPECT_LE(third_.connections(), 1 + seconds);
  EXPECT_EQ(gateway->limitHits("probesPerSecond"), 0);
}

// The checks of the crowd alone would need five times the rate. They delay those of another namespace by no more than
// one probe each time, and not until all of them have been made.
TEST_F(HealthCheckAttacks, ACrowdThatAsksDifferentlyIsBoundedAndDelaysNoOtherNamespace) {
  constexpr int kPerSecond = 200;
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<GatewayProcess> gateway = attacked(true, limits("probesPerSecond: 200"));
  EXPECT_TRUE(gateway->limitWasHit("probesPerSecond"));
  ASSERT_TRUE(eventually([&] { return victim_.connections() > 0; }));
  const auto since = [](std::chrono::steady_clock::time_point time) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
  };
  const int before = third_.connections();
  const auto asked = std::chrono::steady_clock::now();
  ASSERT_TRUE(isCheckedAgain(1));
  EXPECT_LT(since(asked), 4) << "the victim's check has waited for the crowd, whose checks take five seconds";
  EXPECT_GE(third_.connections() - before, kPerSecond / 4) << "the attack stands";
  EXPECT_LE(third_.connections(), kPerSecond * (since(begin) + 0.1));
}

}  // namespace
}  // namespace sluice::test
