// Draws routes, EgressPolicies and requests, and holds what the gateway does with each request against its explanation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/support/seeds.h"

namespace sluice::test {
namespace {

using content::Value;

constexpr std::uint32_t kFixedCourses = 3;
constexpr std::uint32_t kDailyCourses = 2;
constexpr std::size_t kRoutes = 40;
constexpr std::array<const char*, 3> kMethods{"GET", "POST", "DELETE"};
constexpr std::array<const char*, 6> kAskedPaths{"/v1", "/v1/x", "/v1x", "/v2/y", "/", "/%761/x"};

/// Draws configurations. Each part of a rule is there in some of them only.
class EgressDraw {
 public:
  EgressDraw(std::uint32_t seed, std::uint16_t port) : engine_(seed), port_(std::to_string(port)) {}

  template <std::size_t Size>
  const char* oneOf(const std::array<const char*, Size>& choices) {
    return choices[engine_() % Size];
  }

  std::string routes() {
    std::string text;
    for (std::size_t i = 0; i < kRoutes; ++i) {
      const std::string name = "r" + std::to_string(i);
      text += route(name);
      for (std::size_t left = engine_() % 3; left > 0; --left) {
        text += policy(name + "-" + std::to_string(left),
                       "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: " + name + "}");
      }
    }
    if (isDrawn(2)) text += policy("above", kGatewayTarget);
    return text;
  }

 private:
  bool isDrawn(unsigned one) { return engine_() % one == 0; }

  std::string route(const std::string& name) {
    static constexpr std::array<const char*, 4> kFilters{
        "", "", "{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /v2/z}}}",
        "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /v1}}}"};
    const std::string backend =
        isDrawn(2) ? "{group: sluice.dev, kind: Backend, name: literal}" : backendRef(isDrawn(2) ? "a" : "b");
    return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
           "}\nspec:\n  parentRefs: [{name: egress}]\n  hostnames: [" + name + ".test]\n  rules: [{filters: [" +
           oneOf(kFilters) + "], backendRefs: [" + backend + "]}]\n";
  }

  std::string policy(const std::string& name, const std::string& target) {
    std::string rules;
    for (std::size_t left = engine_() % 4; left > 0; --left) {
      rules += (rules.empty() ? "" : ", ") + rule("rule" + std::to_string(left));
    }
    const std::string mode = isDrawn(5) ? "mode: Audit, " : "";
    return egressPolicy(name, target,
                        mode + "default: " + (isDrawn(2) ? "Allow" : "Deny") + ", rules: [" + rules + "]");
  }

  std::string rule(const std::string& name) {
    const bool denies = isDrawn(3);
    std::string given = to();
    const auto add = [&given](const std::string& what) { given += (given.empty() ? "" : ", ") + what; };
    if (isDrawn(3))
      add(std::string("http: {methods: [") + oneOf(kMethods) + "]}");
    else if (isDrawn(2))
      add(std::string("http: {paths: [") + oneOf(kRulePaths) + "]}");
    if (isDrawn(4)) add(std::string("from: {cidrs: [") + oneOf(kNetworks) + "]}");
    if (!denies && isDrawn(8)) add("tls: {mode: Required}");
    return denies ? denying(name, given) : allowing(name, given);
  }

  std::string to() {
    std::string given;
    const auto add = [&given](const std::string& what) { given += (given.empty() ? "" : ", ") + what; };
    if (isDrawn(3)) add(std::string("hostnames: [") + oneOf(kHostnames) + "]");
    if (isDrawn(4)) add(std::string("cidrs: [") + oneOf(kNetworks) + "]");
    if (isDrawn(4)) add("ports: [" + (isDrawn(2) ? port_ : "443") + "]");
    return given.empty() ? given : "to: {" + given + "}";
  }

  static constexpr std::array<const char*, 4> kHostnames{"a.test", "'*.test'", "'*.sub.test', a.test", "B.Sub.test."};
  static constexpr std::array<const char*, 4> kNetworks{"127.0.0.0/8", "127.0.0.1/32", "10.0.0.0/8", "'::/0'"};
  static constexpr std::array<const char*, 5> kRulePaths{"{value: /v1}", "{type: Exact, value: /v1/x}", "{value: /v2/}",
                                                         "{type: RegularExpression, value: '/v[0-9]/x'}",
                                                         "{value: /%761}"};

  std::mt19937 engine_;
  const std::string port_;
};

/// Returns the member of a map of JSON at that path; it is a test failure if there is none.
const Value& explainedAt(const Value& map, std::initializer_list<const char*> path) {
  static const Value kNothing;
  const Value* value = &map;
  for (const char* key : path) {
    const Value* const next = value->isList() && !value->items.empty() ? &value->items.front() : value;
    value = next->find(key);
    if (value == nullptr) {
      ADD_FAILURE() << "the explanation has no " << key;
      return kNothing;
    }
  }
  return *value;
}

std::string decisionIn(const Value& map) {
  return explainedAt(map, {"decision"}).text + " " + explainedAt(map, {"policy"}).text + " " +
         explainedAt(map, {"rule"}).text;
}

/// Returns the decisions of which the access log has one, for a request that is explained so. Empty if all policies are
/// audited and allow it, and if addresses decide.
std::vector<std::string> loggedAs(const Value& egress) {
  const std::string enforced = decisionIn(egress);
  if (explainedAt(egress, {"decision"}).text == "denied") return {enforced};
  std::vector<std::string> audited;
  for (const Value& each : explainedAt(egress, {"audited"}).items) {
    if (explainedAt(each, {"decision"}).text == "undecided") return {};
    audited.push_back("audited " + explainedAt(each, {"policy"}).text + " " + explainedAt(each, {"rule"}).text);
  }
  if (!audited.empty()) return audited;
  return explainedAt(egress, {"policy"}).text.empty() ? audited : std::vector<std::string>{enforced};
}

/// A gateway whose routes and policies are drawn.
class ExplainedGateway {
 public:
  explicit ExplainedGateway(std::uint32_t seed) : draw_(seed, origin_.port()), gateway_(spec()) {}

  /// Sends requests to each route, and compares each of them with its explanation.
  void compare() {
    for (std::size_t i = 0; i < 3 * kRoutes; ++i) {
      const std::string host = "r" + std::to_string(i % kRoutes) + ".test";
      const char* const method = draw_.oneOf(kMethods);
      asked_.push_back(ask(host, method, draw_.oneOf(kAskedPaths)));
    }
    const std::vector<std::string> log = gateway_.accessLog(asked_.size());
    for (std::size_t i = 0; i < asked_.size(); ++i) compare(asked_[i], log.at(i));
  }
  std::size_t denied() const { return denied_; }
  std::size_t allowed() const { return allowed_; }

 private:
  struct AskedOnce {
    std::string request;
    int status;
    std::string explanation;
  };

  GatewaySpec spec() {
    GatewaySpec spec;
    spec.backends = {{.name = "a", .hostname = "a.test", .port = origin_.port()},
                     {.name = "b", .hostname = "b.sub.test", .port = origin_.port()}};
    spec.routes =
        "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: literal}\nspec: "
        "{destination: {type: Ip, ip: {address: 127.0.0.1}, ports: [{number: " +
        std::to_string(origin_.port()) + "}]}}\n" + draw_.routes();
    return spec;
  }

  AskedOnce ask(const std::string& host, const std::string& method, const std::string& path) const {
    const std::string head = method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n\r\n";
    const int status = askRaw(gateway_.port(), head).status;
    const std::string url =
        "http://" + host + ":" + std::to_string(gateway_.port()) + (path == kAskedPaths.back() ? "/%25761/x" : path);
    return {method + " " + host + path, status,
            gateway_.adminGet("/explain?clientAddress=127.0.0.1&method=" + method + "&url=" + url)};
  }

  void compare(const AskedOnce& asked, const std::string& line) {
    SCOPED_TRACE(asked.request);
    const Value explanation = content::parseJson(asked.explanation, {.bytes = asked.explanation.size()}).value();
    const Value& egress = explainedAt(explanation, {"backends", "egress"});
    if (egress.isNull()) {
      EXPECT_EQ(asked.status, 200) << "no policy covers the route";
      return;
    }
    const std::string decision = explainedAt(egress, {"decision"}).text;
    if (decision == "undecided") return;  // by the addresses of a name
    EXPECT_EQ(asked.status, decision == "denied" ? 403 : 200) << asked.explanation;
    ++(decision == "denied" ? denied_ : allowed_);
    const std::vector<std::string> expected = loggedAs(egress);
    if (expected.empty()) return;
    const Value logged = content::parseJson(line, {.bytes = line.size()}).value();
    EXPECT_THAT(expected, testing::Contains(decisionIn(logged))) << line << "\n" << asked.explanation;
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  EgressDraw draw_;
  GatewayProcess gateway_;
  std::vector<AskedOnce> asked_;
  std::size_t denied_ = 0;
  std::size_t allowed_ = 0;
};

TEST(EgressExplained, IsTheDecisionThatTheGatewayMakes) {
  std::size_t denied = 0;
  std::size_t allowed = 0;
  for (const std::uint32_t seed : seeds(kFixedCourses, kDailyCourses)) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    ExplainedGateway gateway(seed);
    gateway.compare();
    denied += gateway.denied();
    allowed += gateway.allowed();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(denied, kRoutes);
  EXPECT_GT(allowed, kRoutes);
}

}  // namespace
}  // namespace sluice::test
