// Tests rules without backendRefs through the binary: a DirectResponse answers, and the rule answers 500 if no step
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string direct(const std::string& config, const std::string& more = {}) {
  return "{name: deny, type: 'sluice.dev/DirectResponse:v1', config: {" + config + "}" + more + "}";
}

/// Returns a rule, as lines, for requests below that path, with these uses and no backendRefs.
std::string closedRule(const std::string& path, const std::string& uses) {
  return "    - matches: [{path: {value: " + path + "}}]\n" +
         (uses.empty() ? "" : "      filters: [" + inlined(uses) + "]\n");
}

class DirectResponses : public testing::Test {
 protected:
  RawOrigin origin_{RawOrigin::answering(kOk)};
  GatewayProcess gateway_{
      {.backends = {{.port = origin_.port()}},
       .routes = routeOfRules(
           closedRule("/admin", direct("")) +
           closedRule("/gone", direct("status: 451, detail: 'not in \"this\" country'", ", preAuth: true")) +
           closedRule("/edited", use("HeaderModifier", "edit", "request-headers", "set: [{name: x-a, value: '1'}]")) +
           closedRule("/bare", "") + "    - filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {}}]\n" +
           backendRefs())}};
};

TEST_F(DirectResponses, DenyWith403OverEveryVersionOfHttp) {
  for (const char* version : {"--http1.0", "--http1.1", "--http2-prior-knowledge"}) {
    const std::string answer = ask(gateway_, "/admin/users", {version});
    EXPECT_THAT(answer, HasSubstr(" 403")) << version;
    EXPECT_THAT(answer, HasSubstr("application/problem+json"));
    EXPECT_THAT(answer, HasSubstr(R"("code":"http_request_denied")"));
    EXPECT_THAT(answer, HasSubstr("this request is not allowed"));
  }
  EXPECT_EQ(statusOf(gateway_, "/admin", {"-d", "a body that nobody reads"}), "403");
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(DirectResponses, SayWhatTheirConfigSays) {
  const std::string answer = ask(gateway_, "/gone");
  EXPECT_THAT(answer, HasSubstr(" 451"));
  EXPECT_THAT(answer, HasSubstr(R"(not in \"this\" country)"));
}

TEST_F(DirectResponses, AreLoggedWithTheirUse) {
  EXPECT_EQ(statusOf(gateway_, "/admin"), "403");
  const std::string line = gateway_.accessLog(1).at(0);
  for (const char* part : {R"("http.response.status_code":403)", R"("error.type":"http_request_denied")",
                           R"("error.origin":"processor")", R"("processor":"deny")"}) {
    EXPECT_THAT(line, HasSubstr(part));
  }
}

TEST_F(DirectResponses, AnswerGrpcInItsOwnTerms) {
  const std::string answer =
      ask(gateway_, "/admin/Users", {"--http2-prior-knowledge", "-H", "content-type: application/grpc", "-d", ""});
  EXPECT_THAT(answer, HasSubstr("HTTP/2 200"));
  EXPECT_THAT(answer, HasSubstr("grpc-status: 7"));
}

TEST_F(DirectResponses, LeaveTheRestOfARouteAlone) {
  EXPECT_EQ(statusOf(gateway_, "/else"), "200");
  EXPECT_EQ(statusOf(gateway_, "/admin"), "403");
  EXPECT_EQ(statusOf(gateway_, "/else"), "200");
}

TEST_F(DirectResponses, AreMissedBy500WhereNoStepAnswers) {
  for (const char* target : {"/edited", "/bare"}) {
    const std::string answer = ask(gateway_, target);
    EXPECT_THAT(answer, HasSubstr(" 500")) << target;
    EXPECT_THAT(answer, HasSubstr(R"("code":"proxy_configuration_error")"));
  }
}

TEST(DirectResponseOfAGateway, AnswersForRulesWithoutBackends) {
  const std::string processor =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: closed}\n"
      "spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors: [" +
      direct("status: 503, detail: closed") + "]\n";
  const GatewayProcess gateway({.backends = {}, .routes = routeOfRules(closedRule("/", "")) + "---\n" + processor});
  EXPECT_EQ(statusOf(gateway, "/"), "503");
}

}  // namespace
}  // namespace sluice::test
