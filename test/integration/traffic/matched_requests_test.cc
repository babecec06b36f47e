// Tests what of a request does not count when its route is looked for, and the header field of Linkerd, by clients of
// both versions of HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kToEgress = "kind: Gateway, name: egress";
constexpr const char* kServiceRefs = "      backendRefs: [{name: shop, port: 80}]\n";

/// Both kinds of policy that have such fields.
std::vector<SpelledPolicy> matchingPolicies(const std::string& fields) {
  return {ownFields(fields), envoyFields(fields)};
}

/// A Service at /admin, at /host for one authority, and at /old, whose prefix is rewritten; and a Backend without a
/// Service at /plain.
class MatchedRequests : public testing::Test {
 protected:
  void start(const std::string& policies = {}) {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.routes = routeOfRules("    - matches: [{path: {value: /admin}}]\n" + std::string(kServiceRefs) +
                               "    - matches: [{path: {value: /host}, headers: [{name: host, value: shop.test}]}]\n" +
                               kServiceRefs +
                               "    - matches: [{path: {value: /old/api}}]\n"
                               "      filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, "
                               "replacePrefixMatch: /new}}}]\n" +
                               kServiceRefs + ruleOfPrefix("/plain", "origin")) +
                  serviceOf("shop", origin_.port()) + policies;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Sends a request for shop.test:8080, and returns its status.
  std::string statusFor(const std::string& version, const std::string& target,
                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {version, "-H", "Host: shop.test:8080"};
    options.insert(options.end(), more.begin(), more.end());
    return statusOf(*gateway_, target, options);
  }
  /// Returns the head that the origin got last.
  std::string lastHead() const {
    const std::vector<std::string> heads = origin_.heads();
    return heads.empty() ? std::string() : heads.back();
  }

  static constexpr const char* kVersions[] = {"--http1.1", "--http2-prior-knowledge"};
  RawOrigin origin_{RawOrigin::answering(kOk)};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(MatchedRequests, AreWholeWithoutAPolicy) {
  start();
  for (const char* const version : kVersions) {
    SCOPED_TRACE(version);
    EXPECT_EQ(statusFor(version, "/admin"), "200");
    EXPECT_THAT(lastHead(), HasSubstr("\r\nhost: shop.test:8080\r\n"));
    EXPECT_EQ(statusFor(version, "/host"), "404");
    EXPECT_EQ(statusFor(version, "/admin;v=1"), "404");
    EXPECT_EQ(statusFor(version, "/admin", {"-H", "l5d-dst-override: asked.test:1"}), "200");
    EXPECT_THAT(lastHead(), HasSubstr("\r\nl5d-dst-override: asked.test:1\r\n"));
  }
}

TEST_F(MatchedRequests, LoseThePortOfTheAuthority) {
  for (const SpelledPolicy& policy : matchingPolicies("matching: {stripAuthorityPort: true}")) {
    SCOPED_TRACE(policy.kind);
    start(policy.forTarget(kToEgress));
    for (const char* const version : kVersions) {
      SCOPED_TRACE(version);
      EXPECT_EQ(statusFor(version, "/admin"), "200");
      EXPECT_THAT(lastHead(), HasSubstr("\r\nhost: shop.test\r\n"));
      EXPECT_EQ(statusFor(version, "/host"), "200");
      EXPECT_EQ(statusFor(version, "/admin;v=1"), "404") << "the other field is false";
    }
  }
}

TEST_F(MatchedRequests, KeepTheParametersThatDoNotCount) {
  for (const SpelledPolicy& policy : matchingPolicies("matching: {ignorePathParameters: true}")) {
    SCOPED_TRACE(policy.kind);
    start(policy.forTarget(kToEgress));
    for (const char* const version : kVersions) {
      SCOPED_TRACE(version);
      EXPECT_EQ(statusFor(version, "/admin;v=1/users;w=2?q=1"), "200");
      EXPECT_THAT(lastHead(), StartsWith("GET /admin;v=1/users;w=2?q=1 HTTP/1.1\r\n"));
      EXPECT_THAT(lastHead(), HasSubstr("\r\nhost: shop.test:8080\r\n")) << "the other field is false";
      EXPECT_EQ(statusFor(version, "/;v=1/admin"), "200");
      EXPECT_EQ(statusFor(version, "/adminx;v=1"), "404");
      EXPECT_EQ(statusFor(version, "/old;v=1/api;w=2/x;y=3?q"), "200");
      EXPECT_THAT(lastHead(), StartsWith("GET /new/x;y=3?q HTTP/1.1\r\n"));
    }
  }
}

TEST_F(MatchedRequests, DoNotEvadePoliciesByParameters) {
  const std::string ignoring = ownFields("matching: {ignorePathParameters: true}").forTarget(kToEgress);
  const std::string denies =
      egressPolicy("denies", kGatewayTarget,
                   "default: Allow, rules: [" + denying("admin", "http: {paths: [{value: /admin/users}]}") + "]");
  start(ignoring + denies);
  for (const char* const version : kVersions) {
    SCOPED_TRACE(version);
    EXPECT_EQ(statusFor(version, "/admin/other;v=1"), "200");
    for (const char* const target : {"/admin/users", "/admin/users;v=1", "/admin;v=1/users/x", "/admin/;v=1/users"}) {
      EXPECT_EQ(statusFor(version, target), "403") << target;
    }
  }
  const std::string allows = egressPolicy(
      "allows", kGatewayTarget, "rules: [" + allowing("admin", "http: {paths: [{value: /admin/users}]}") + "]");
  start(ignoring + allows);
  for (const char* const version : kVersions) {
    SCOPED_TRACE(version);
    EXPECT_EQ(statusFor(version, "/admin/users/x;v=1"), "200") << "below the path that is allowed";
    EXPECT_EQ(statusFor(version, "/admin;v=1/users"), "403");
    EXPECT_EQ(statusFor(version, "/admin;v=1/other"), "403");
  }
}

TEST_F(MatchedRequests, NameTheirServiceToLinkerd) {
  for (const SpelledPolicy& policy : matchingPolicies("integrations: {addLinkerdHeaders: true}")) {
    for (const char* const target : {kToEgress, "kind: HTTPRoute, name: all"}) {
      SCOPED_TRACE(std::string(policy.kind) + " for " + target);
      start(policy.forTarget(target));
      for (const char* const version : kVersions) {
        SCOPED_TRACE(version);
        const std::vector<std::string> asked = {"-H", "l5d-dst-override: asked.test:1", "-H", "L5D_DST_OVERRIDE: twin"};
        EXPECT_EQ(statusFor(version, "/admin"), "200");
        EXPECT_THAT(lastHead(), HasSubstr("\r\nl5d-dst-override: shop.test.svc.cluster.local:80\r\n"));
        EXPECT_EQ(statusFor(version, "/admin", asked), "200");
        EXPECT_THAT(lastHead(), HasSubstr("\r\nl5d-dst-override: shop.test.svc.cluster.local:80\r\n"));
        EXPECT_THAT(lastHead(), Not(HasSubstr("asked.test")));
        EXPECT_THAT(lastHead(), Not(HasSubstr("twin")));
        EXPECT_EQ(statusFor(version, "/plain", asked), "200");
        EXPECT_THAT(lastHead(), HasSubstr("\r\nl5d-dst-override: asked.test:1\r\n")) << "it is no Service";
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
