// Tests the features that GatewayClass.status.supportedFeatures claims for HTTPRoutes and Gateways, by curl through the
// binary; the others are in rule_test, tls_listener_test and grpc_route_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kBackendRef = "{group: gateway.networking.k8s.io, kind: Backend, name: origin}";

/// Returns an HTTPRoute with these rules, given as lines of YAML.
std::string httpRouteOf(const std::string& rules, const std::string& name = "all",
                        const std::string& parent = "name: egress", const std::string& more = {}) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  parentRefs: [{" + parent + "}]\n" + more + "  rules:\n" + rules;
}

/// Returns a rule that marks its responses with its name.
std::string marked(const std::string& name, const std::string& matches) {
  return "    - name: " + name + "\n      matches: [" + matches +
         "]\n      filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-rule, value: " +
         name + "}], remove: [x-echo]}}]\n      backendRefs: [" + kBackendRef + "]\n";
}

class RouteFeatures : public testing::Test {
 protected:
  std::string ask(const std::string& url, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"curl", "-sS", "-i", url});
    return run(more).output;
  }
  std::string ask(const GatewayProcess& gateway, const std::string& target, const std::vector<std::string>& more = {}) {
    return ask(gateway.url(target), more);
  }
  EchoOrigin origin_{std::nullopt};
};

TEST_F(RouteFeatures, RulesMatchByMethodQueryHeaderAndPath) {
  const GatewayProcess gateway(
      {.backends = {{.port = origin_.port()}},
       .routes = httpRouteOf(marked("rest", "{path: {value: /}}") + marked("path", "{path: {value: /a}}") +
                             marked("method", "{path: {value: /a}, method: PUT}") +
                             marked("header", "{path: {value: /a}, headers: [{name: x-kind, value: b}]}") +
                             marked("query", "{path: {value: /a}, queryParams: [{name: q, value: b}]}"))});
  EXPECT_THAT(ask(gateway, "/b"), HasSubstr("x-rule: rest\r\n"));
  EXPECT_THAT(ask(gateway, "/a/b"), HasSubstr("x-rule: path\r\n"));
  EXPECT_THAT(ask(gateway, "/a", {"-X", "PUT", "-H", "x-kind: b"}), HasSubstr("x-rule: method\r\n"));
  EXPECT_THAT(ask(gateway, "/a?q=b", {"-H", "x-kind: b"}), HasSubstr("x-rule: header\r\n"));
  EXPECT_THAT(ask(gateway, "/a?q=b"), HasSubstr("x-rule: query\r\n"));
  EXPECT_THAT(ask(gateway, "/a?q=c"), HasSubstr("x-rule: path\r\n"));
}

TEST_F(RouteFeatures, UrlsAreRewrittenAndBackendsHaveHeadersOfTheirOwn) {
  const GatewayProcess gateway(
      {.backends = {{.port = origin_.port()}},
       .routes =
           httpRouteOf("    - matches: [{path: {value: /old}}]\n"
                       "      filters: [{type: URLRewrite, urlRewrite: {hostname: new.test, path: {type: "
                       "ReplacePrefixMatch, replacePrefixMatch: /new}}}]\n"
                       "      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, filters: "
                       "[{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-of-backend, value: "
                       "'yes'}]}}]}]\n")});
  const std::string answer = ask(gateway, "/old/page");
  EXPECT_EQ(echoed(answer, "target"), "/new/page");
  EXPECT_EQ(echoed(answer, "authority"), "new.test");
  EXPECT_THAT(answer, HasSubstr("x-of-backend: yes"));
}

TEST_F(RouteFeatures, APortOfAParentRefSelectsItsListeners) {
  const std::uint16_t other = freePort();
  const GatewayProcess gateway(
      {.backends = {{.port = origin_.port()}},
       .routes =
           httpRouteOf(marked("other", "{path: {value: /}}"), "all", "name: egress, port: " + std::to_string(other)),
       .listeners = "    - {name: other, protocol: HTTP, port: " + std::to_string(other) + "}\n"});
  EXPECT_THAT(ask("http://127.0.0.1:" + std::to_string(other) + "/"), HasSubstr("x-rule: other\r\n"));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("404"));
}

TEST_F(RouteFeatures, TheListenerWithTheMostSpecificHostnameOwnsARequest) {
  const std::uint16_t port = freePort();
  const std::string at = ", protocol: HTTP, port: " + std::to_string(port);
  const auto forListener = [](const std::string& name) {
    return httpRouteOf(marked(name, "{path: {value: /" + name + "}}"), name, "name: egress, sectionName: " + name);
  };
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}},
                                .routes = forListener("all") + forListener("wild") + forListener("exact"),
                                .listeners = "    - {name: all" + at + "}\n    - {name: wild, hostname: '*.a.test'" +
                                             at + "}\n    - {name: exact, hostname: b.a.test" + at + "}\n"});
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
  const auto answers = [&](const std::string& host) {
    std::string names;
    for (const char* name : {"all", "wild", "exact"}) {
      if (ask(url + name, {"-H", "Host: " + host}).find("x-rule: ") != std::string::npos) names += name;
    }
    return names;
  };
  EXPECT_EQ(answers("other.test"), "all");
  EXPECT_EQ(answers("c.a.test"), "wild");
  EXPECT_EQ(answers("b.a.test"), "exact");
}

TEST_F(RouteFeatures, ANamespaceIsAllowedByItsLabels) {
  const std::uint16_t port = freePort();
  const std::string team =
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {egress: 'yes'}}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: team, name: theirs}\n"
      "spec:\n  parentRefs: [{name: egress, namespace: test, sectionName: shared}]\n  rules: [{filters: [{type: "
      "RequestRedirect, requestRedirect: {hostname: team.test}}]}]\n";
  const std::string listener = "    - {name: shared, protocol: HTTP, port: " + std::to_string(port) +
                               ", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {egress: "
                               "'LABEL'}}}}}\n";
  const auto with = [&](std::string label) {
    std::string text = listener;
    return text.replace(text.find("LABEL"), 5, label);
  };
  GatewaySpec spec{.backends = {{.port = origin_.port()}},
                   .routes = httpRouteOf(marked("own", "{path: {value: /}}")) + team,
                   .listeners = with("yes")};
  GatewayProcess gateway(spec);
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
  EXPECT_THAT(ask(url), HasSubstr("location: http://team.test"));
  spec.listeners = with("no");
  gateway.reload(spec);
  EXPECT_THAT(ask(url), HasSubstr("404"));
}

TEST_F(RouteFeatures, ABackendOfAnotherNamespaceNeedsAGrant) {
  const std::string other =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: team, name: theirs}\n"
      "spec:\n  parentRefs: [{name: egress, namespace: test, sectionName: shared}]\n  rules: [{backendRefs: [{group: "
      "gateway.networking.k8s.io, kind: Backend, name: origin, namespace: test}]}]\n";
  const std::string grant =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: test, name: team}\n"
      "spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team}], to: [{group: "
      "gateway.networking.k8s.io, kind: Backend}]}\n";
  const std::uint16_t port = freePort();
  GatewaySpec spec{.backends = {{.port = origin_.port()}},
                   .routes = other,
                   .listeners = "    - {name: shared, protocol: HTTP, port: " + std::to_string(port) +
                                ", allowedRoutes: {namespaces: {from: All}}}\n"};
  GatewayProcess gateway(spec);
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
  EXPECT_THAT(ask(url), HasSubstr("HTTP/1.1 500"));
  spec.routes = other + grant;
  gateway.reload(spec);
  EXPECT_THAT(ask(url), HasSubstr("HTTP/1.1 200"));
}

}  // namespace
}  // namespace sluice::test
