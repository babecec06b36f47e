// Tests a credential that a PayloadProcessor of the Gateway adds to all requests, with Backends with and without TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class GatewayCredentials : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& more = {}, const std::string& phase = "request-headers") const {
    const std::string injector = use("CredentialInjector", "key", phase, "secretRef: {name: key}", more);
    return {.backends =
                {{.name = "secure", .hostname = "secure.test", .port = secure_.port(), .ca = authority_.certificate},
                 {.name = "plain", .hostname = "plain.test", .port = plain_.port()}},
            .routes = routeOfRules(ruleOfPrefix("/secure", "secure") + ruleOfPrefix("/plain", "plain")) +
                      secretOf("key", "token: ours") +
                      "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: "
                      "p}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  "
                      "processors: [" +
                      injector + "]\n"};
  }

  CertifiedKey authority_ = makeAuthority();
  EchoOrigin secure_{issueServer(authority_, "secure.test")};
  RecordingOrigin plain_{[](std::size_t) { return kOk; }};
};

TEST_F(GatewayCredentials, ReachOriginsWithTlsAndNoOthers) {
  for (const char* phase : {"request-headers", "backend-request"}) {
    const GatewayProcess gateway(specOf({}, phase));
    const std::string answer = ask(gateway, "/secure", {"-H", "Authorization: Bearer mine"});
    EXPECT_THAT(answer, HasSubstr(" 200")) << phase;
    EXPECT_THAT(answer, HasSubstr("\"authorization: Bearer ours\"")) << phase;
    EXPECT_EQ(countOf(answer, "\"authorization: "), 1U) << answer;
    const std::string refused = ask(gateway, "/plain");
    EXPECT_THAT(refused, HasSubstr(" 500")) << phase;
    EXPECT_THAT(refused, HasSubstr("InsecureCredential")) << phase;
    EXPECT_EQ(statusOf(gateway, "/nowhere"), "404") << "no Backend is exposed there";
    EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"InsecureCredential\""));
  }
  EXPECT_EQ(plain_.heads().size(), 0U);
}

TEST_F(GatewayCredentials, AreLeftOutWhereTheyWouldBeReadableIfTheyFailOpen) {
  const GatewayProcess gateway(specOf(", failOpen: true"));
  EXPECT_THAT(ask(gateway, "/secure"), HasSubstr("\"authorization: Bearer ours\""));
  EXPECT_EQ(statusOf(gateway, "/plain"), "200");
  ASSERT_EQ(plain_.heads().size(), 1U);
  EXPECT_THAT(plain_.heads()[0], Not(HasSubstr("ours")));
}

// The credential was put in for the first rule's Backend, which has TLS.
TEST_F(GatewayCredentials, LeaveTheRequestWithTheRuleWhenTheRouteIsMatchedAgain) {
  for (const bool open : {true, false}) {
    GatewaySpec spec = specOf(open ? ", failOpen: true" : "");
    const std::size_t uses = spec.routes.find("processors: [") + 13;
    spec.routes.insert(uses, "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body}, ");
    spec.routes.replace(spec.routes.find("value: /plain}"), 14,
                        "value: /secure}, headers: [{name: x-gateway-model-name, value: plain}]");
    const GatewayProcess gateway(spec);
    const std::size_t before = plain_.heads().size();
    const auto post = [&](const std::string& model) {
      return ask(gateway, "/secure", {"-H", "Content-Type: application/json", "-d", "{\"model\": \"" + model + "\"}"});
    };
    EXPECT_THAT(post("other"), HasSubstr("\"authorization: Bearer ours\"")) << open;
    EXPECT_THAT(post("plain"), HasSubstr(open ? " 200" : " 500"));
    ASSERT_EQ(plain_.heads().size(), before + (open ? 1 : 0));
    for (const std::string& head : plain_.heads()) EXPECT_THAT(head, Not(HasSubstr("ours")));
  }
}

// A mirror is another origin, whether or not its requests are readable on their way.
TEST_F(GatewayCredentials, NeverReachAMirror) {
  for (const char* phase : {"request-headers", "backend-request"}) {
    GatewaySpec spec = specOf({}, phase);
    const std::string rule = "      backendRefs: [" + backendRef("secure") + "]\n";
    spec.routes.insert(spec.routes.find(rule), "      filters: [{type: RequestMirror, requestMirror: {backendRef: " +
                                                   backendRef("plain") + "}}]\n");
    const GatewayProcess gateway(spec);
    const std::size_t before = plain_.heads().size();
    EXPECT_THAT(ask(gateway, "/secure"), HasSubstr("\"authorization: Bearer ours\""));
    EXPECT_TRUE(eventually([&] { return plain_.heads().size() > before; })) << phase;
    EXPECT_THAT(plain_.heads().back(), Not(HasSubstr("ours"))) << phase;
  }
}

TEST_F(GatewayCredentials, FollowTheBackendThatARuleLeadsTo) {
  GatewaySpec spec = specOf();
  GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/plain"), "500");
  spec.routes.replace(spec.routes.find("name: plain"), 11, "name: secure");
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/plain"), HasSubstr("\"authorization: Bearer ours\""));
  EXPECT_EQ(plain_.heads().size(), 0U);
}

}  // namespace
}  // namespace sluice::test
