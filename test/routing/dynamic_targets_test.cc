#include "proxy/routing/dynamic_targets.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::routing {
namespace {

std::shared_ptr<const BackendPlan> dynamicPort(std::uint16_t number, bool tls) {
  auto plan = std::make_shared<BackendPlan>();
  plan->name = "demo/any";
  plan->port = number;
  plan->identity = "any|" + std::to_string(number);
  if (tls) {
    plan->tls.emplace();
    auto http11 = std::make_shared<BackendPlan>(*plan);
    http11->identity = "any over HTTP/1.1";
    http11->countsAs = plan->identity;
    plan->http11 = std::move(http11);
  }
  return plan;
}

/// Returns "host:port", or the reason of the refusal.
std::string targetIn(const DynamicTargets& targets, std::string_view authority) {
  const auto target = targets.targetOf({authority});
  if (!target.ok()) return target.error().detail;
  return std::string(target->host) + ":" + std::to_string(target->port);
}

TEST(DynamicTargets, AreTheNamesAndPortsOfTheBackend) {
  const DynamicTargets targets{
      PolicyNeed::kNone, {"api.test", "*.models.test"}, {dynamicPort(443, true), dynamicPort(8080, false)}};
  const std::string noHost = "the backend sends no requests to this host";
  const std::pair<const char*, std::string> cases[] = {
      {"api.test", "api.test:443"},
      {"api.test.", "api.test:443"},
      {"api.test:8080", "api.test:8080"},
      {"api.test:80", "the backend sends no requests to this port"},
      {"a.models.test", "a.models.test:443"},
      {"b.a.models.test", "b.a.models.test:443"},
      {"models.test", noHost},
      {"amodels.test", noHost},
      {"other.test", noHost},
      {"192.0.2.1", noHost},
      {"", "the request names no host to which the backend could send it"},
  };
  for (const auto& [authority, expected] : cases) EXPECT_EQ(targetIn(targets, authority), expected) << authority;
  EXPECT_EQ(targets.targetOf({"other.test"}).error().type, base::ErrorType::kHttpRequestDenied);
}

TEST(DynamicTargets, MayBeAnyNameAddressAndPort) {
  for (const bool tls : {false, true}) {
    const DynamicTargets targets{PolicyNeed::kDenyByDefault, {}, {dynamicPort(0, tls)}};
    EXPECT_EQ(targetIn(targets, "a.test"), tls ? "a.test:443" : "a.test:80");
    EXPECT_EQ(targetIn(targets, "a.test:7"), "a.test:7");
    EXPECT_EQ(targetIn(targets, "192.0.2.1"), tls ? "192.0.2.1:443" : "192.0.2.1:80");
    EXPECT_EQ(targetIn(targets, "[2001:db8::1]:7"), "2001:db8::1:7");
  }
}

TEST(DynamicTargets, AreNoAddressInAnotherForm) {
  const DynamicTargets targets{PolicyNeed::kDenyByDefault, {}, {dynamicPort(0, false)}};
  for (const char* authority : {"127.1", "0177.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "a.0x1", "1.2.3.4.5"}) {
    EXPECT_EQ(targetIn(targets, authority), "the request names no host to which the backend could send it")
        << authority;
  }
}

TEST(DynamicTargets, OfForwardProxiesFollowTheSchemeOfTheTarget) {
  const auto plain = std::make_shared<BackendPlan>(*dynamicPort(0, false));
  const auto secure = std::make_shared<BackendPlan>(*dynamicPort(0, true));
  plain->stream = dynamicPort(0, false);
  const DynamicTargets any{PolicyNeed::kEnforced, {}, {plain, secure}};
  const auto targetAt = [&](std::string_view authority, http::Scheme scheme, bool isTunnel = false) {
    return any.targetOf({authority, true, isTunnel, scheme});
  };
  EXPECT_EQ(targetAt("a.test", http::Scheme::kHttp)->port, 80);
  EXPECT_EQ(targetAt("a.test", http::Scheme::kHttp)->ofPort, plain);
  EXPECT_EQ(targetAt("a.test", http::Scheme::kHttps)->port, 443);
  EXPECT_EQ(targetAt("a.test:80", http::Scheme::kHttps)->ofPort, secure);
  EXPECT_EQ(targetAt("a.test:443", http::Scheme::kHttp, true)->ofPort, plain->stream);
  const DynamicTargets fixed{PolicyNeed::kNone, {"a.test"}, {dynamicPort(8443, true)}};
  EXPECT_FALSE(fixed.targetOf({"a.test", true, false, http::Scheme::kHttps}).ok()) << "the URL means port 443";
  EXPECT_TRUE(fixed.targetOf({"a.test"}).ok()) << "elsewhere it is the first port";
  EXPECT_FALSE(fixed.targetOf({"a.test:8443", true, true}).ok()) << "it takes no tunnels";
}

TEST(RequestedPlan, IsThatOfOneDestination) {
  const DynamicTargets targets{PolicyNeed::kDenyByDefault, {}, {dynamicPort(0, true)}};
  const auto plan = requestedPlan(*targets.targetOf({"a.test"}));
  EXPECT_EQ(plan->name, "demo/any");
  EXPECT_EQ(plan->hostname, "a.test");
  EXPECT_EQ(plan->port, 443);
  EXPECT_EQ(plan->authority, "a.test");
  EXPECT_EQ(plan->tls->serverName, "a.test");
  EXPECT_EQ(plan->requestedOf, targets.ports.front());
  EXPECT_EQ(plan->http11->tls->serverName, "a.test");
  EXPECT_EQ(plan->http11->countedAs(), plan->identity) << "both versions count together";
  const auto other = requestedPlan(*targets.targetOf({"a.test:8443"}));
  EXPECT_EQ(other->authority, "a.test:8443");
  EXPECT_NE(other->identity, plan->identity);
  EXPECT_NE(other->http11->identity, plan->http11->identity);
  EXPECT_EQ(requestedPlan(*targets.targetOf({"[2001:db8::1]:7"}))->authority, "[2001:db8::1]:7");
}

}  // namespace
}  // namespace sluice::routing
