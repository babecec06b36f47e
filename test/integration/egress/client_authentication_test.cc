// Tests clientAuthentication of EgressPolicies through the binary: clients prove who they are to curl's satisfaction,
// and nobody else sees their passwords.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kAuthenticates = "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}";
constexpr const char* kCosty = "eve:$2y$12$abcdefghijklmnopqrstuuT1Iwu6o8Wx7BoOyIMHfgVJq6JO/IJhW";  // "secret"

std::string users(const std::string& lines) { return secretOf("users", ".htpasswd: \"" + lines + "\""); }
std::string annAlone() { return users(kAnn); }

class ClientsOnTheWire : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& documents, const std::string& rules = {}) const {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.routes = routeOfRules(rules.empty() ? "    - " + backendRefs().substr(6) : rules) + documents;
    return spec;
  }
  void start(const std::string& documents, const std::string& rules = {}) {
    gateway_ = std::make_unique<GatewayProcess>(specOf(documents, rules));
  }
  /// Returns the status that curl gets as that user.
  std::string as(const std::string& user, const std::vector<std::string>& more = {}, const std::string& path = "/") {
    std::vector<std::string> options = {"--user", user};
    options.insert(options.end(), more.begin(), more.end());
    return statusOf(*gateway_, path, options);
  }
  std::string status(const std::string& path = "/", const std::vector<std::string>& more = {}) {
    return statusOf(*gateway_, path, more);
  }
  std::string policies() const { return gateway_->adminGet("/status"); }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ClientsOnTheWire, AreServedByNameAndPassword) {
  start(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + ", realm: our egress}"));
  const std::string asked = ask(*gateway_, "/");
  EXPECT_THAT(asked, HasSubstr("401 Unauthorized"));
  EXPECT_THAT(asked, HasSubstr("www-authenticate: Basic realm=\"our egress\", charset=\"UTF-8\"\r\n"));
  EXPECT_THAT(asked, HasSubstr("\"code\":\"authentication_required\""));
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(as("ann:secret", {version}), "200") << version;
    EXPECT_EQ(as("ann:wrong", {version}), "401") << version;
    EXPECT_EQ(as("eve:secret", {version}), "401") << version;
  }
  EXPECT_EQ(as("ann:secret", {"--anyauth", "--http1.1"}), "200") << "curl learns of Basic by the challenge";
  EXPECT_EQ(status("/", {"-H", "Authorization: Bearer token"}), "401");
  for (const std::string& head : origin_.heads()) {
    EXPECT_THAT(head, Not(testing::ContainsRegex("[Aa]uthorization"))) << "the Backend gets no password";
  }
  const std::string log = gateway_->accessLog(1).at(0);
  EXPECT_THAT(log, HasSubstr("\"error.type\":\"authentication_required\""));
}

TEST_F(ClientsOnTheWire, NeedNoCredentialsWhereTheyAreNotRequired) {
  start(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + ", required: false}"));
  EXPECT_EQ(status(), "200");
  EXPECT_EQ(as("ann:secret"), "200");
  EXPECT_EQ(as("ann:wrong"), "401");
  EXPECT_EQ(status("/", {"-H", "Authorization: Bearer token"}), "200");
  EXPECT_THAT(origin_.heads().back(), HasSubstr("Bearer token"));
}

TEST_F(ClientsOnTheWire, AreAskedBeforeEveryLocalAnswer) {
  const std::string rules =
      "    - matches: [{path: {value: /old}}]\n      filters: [{type: RequestRedirect, requestRedirect: {hostname: "
      "new.test}}]\n    - matches: [{path: {value: /api}}]\n      filters: [{type: CORS, cors: {allowOrigins: "
      "['https://a.test']}}]\n" +
      backendRefs();
  start(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + "}"), rules);
  const std::vector<std::string> preflight = {
      "-X", "OPTIONS", "-H", "Origin: https://a.test", "-H", "Access-Control-Request-Method: GET"};
  for (const char* path : {"/old", "/api", "/nowhere"}) EXPECT_EQ(status(path), "401") << path;
  EXPECT_EQ(status("/api", preflight), "401");
  EXPECT_EQ(as("ann:secret", {}, "/old"), "302");
  EXPECT_EQ(as("ann:secret", {}, "/nowhere"), "404");
  EXPECT_EQ(as("ann:secret", preflight, "/api"), "204");
  EXPECT_EQ(as("ann:secret", {}, "/api"), "200");
}

TEST_F(ClientsOnTheWire, SendTheirBodiesAfterTheirCredentials) {
  start(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + "}"));
  const std::vector<std::string> expecting = {"-H", "Expect: 100-continue", "--data-binary", std::string(4000, 'x')};
  EXPECT_EQ(as("ann:secret", expecting), "200");
  EXPECT_EQ(as("ann:wrong", expecting), "401");
  EXPECT_EQ(status("/", expecting), "401");
  EXPECT_EQ(as("ann:secret", {"--data-binary", std::string(100000, 'x')}), "200");
}

TEST_F(ClientsOnTheWire, AreRefusedIfTheSecretIsMissingOrNotBcrypt) {
  const std::string policy = egressPolicy("p", kGatewayTarget, kAuthenticates + "}");
  start(policy);
  EXPECT_EQ(as("ann:secret"), "500");
  EXPECT_THAT(ask(*gateway_, "/"), HasSubstr("proxy_configuration_error"));
  EXPECT_THAT(policies(), HasSubstr("Secret test/users: it does not exist"));
  gateway_->reload(specOf(users(std::string(kAnn) + "\\nbob:$apr1$salt$c0ffee") + policy));
  EXPECT_EQ(as("ann:secret"), "500");
  EXPECT_THAT(policies(), HasSubstr("line 2: its hash is none of bcrypt"));
  EXPECT_THAT(policies(), Not(HasSubstr("c0ffee")));
  gateway_->reload(specOf(users("ann:$2y$13" + std::string(kAnn).substr(10)) + policy));
  EXPECT_EQ(as("ann:secret"), "500");
  EXPECT_THAT(policies(), HasSubstr("line 1: the cost of its bcrypt hash is higher than 12"));
  gateway_->reload(specOf(users(std::string(kAnn) + "\\n" + kCosty) + policy));
  EXPECT_EQ(as("ann:secret"), "200");
  EXPECT_EQ(as("eve:secret"), "200") << "a cost of 12 is served";
}

TEST_F(ClientsOnTheWire, AreThoseOfTheSecretThatIsServed) {
  const std::string policy = egressPolicy("p", kGatewayTarget, kAuthenticates + "}");
  start(annAlone() + policy);
  EXPECT_EQ(as("ann:secret"), "200");
  EXPECT_EQ(as("bob:other"), "401");
  gateway_->reload(specOf(users(kBob) + policy));
  EXPECT_EQ(as("ann:secret"), "401");
  EXPECT_EQ(as("bob:other"), "200") << "a wrong password of before is right at once";
  gateway_->reload(specOf(""));
  EXPECT_EQ(status(), "200");
}

TEST_F(ClientsOnTheWire, AreAuthenticatedByOnePolicy) {
  start(
      annAlone() + secretOf("others", ".htpasswd: \"" + std::string(kBob) + "\"") +
      egressPolicy("a", kGatewayTarget, kAuthenticates + "}") +
      egressPolicy("b", kGatewayTarget, "default: Allow, clientAuthentication: {basic: {secretRef: {name: others}}}"));
  EXPECT_EQ(as("ann:secret"), "200");
  EXPECT_EQ(as("bob:other"), "401");
  EXPECT_THAT(policies(), HasSubstr("\"Conflicted\""));
}

TEST_F(ClientsOnTheWire, AreAuthenticatedBeforePoliciesJudge) {
  start(annAlone() +
        egressPolicy("p", kGatewayTarget, "rules: [], clientAuthentication: {basic: {secretRef: {name: users}}}"));
  EXPECT_EQ(status(), "401") << "a client that is not known learns nothing of the rules";
  EXPECT_EQ(as("ann:secret"), "403");
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ClientsOnTheWire, HaveTheirPasswordsCheckedOnManyConnectionsAtOnce) {
  GatewaySpec spec = specOf(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + "}"));
  spec.workers = 2;
  gateway_ = std::make_unique<GatewayProcess>(spec);
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("ann", "secret") + "\r\n\r\n";
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(BlockingSocket::connect(gateway_->port()));
    clients.back().send(request);
  }
  for (BlockingSocket& client : clients) EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(gateway_->limitHits("passwordChecks"), 0);
}

TEST_F(ClientsOnTheWire, ShowTheirPasswordsToNobody) {
  const std::string canary = "c4n4rYs3cr3t";
  start(annAlone() + egressPolicy("p", kGatewayTarget, kAuthenticates + "}"));
  EXPECT_EQ(as("ann:" + canary), "401");
  EXPECT_EQ(as("ann:secret"), "200");
  std::string all;
  for (const char* page : {"/status", "/metrics", "/exchanges", "/events"}) all += gateway_->adminGet(page);
  gateway_->accessLog(2);
  all += gateway_->process().output() + gateway_->process().errors();
  for (const std::string& secret :
       {canary, basic("ann", canary).substr(6), basic("ann", "secret").substr(6), std::string(kAnn).substr(12)}) {
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace sluice::test
