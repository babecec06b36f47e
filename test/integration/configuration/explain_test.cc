// Tests the explanations of `sluice explain` and of the admin page /explain through the binary: for the examples, and
// for requests that are then made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// --- the command

ProgramOutcome explain(const std::string& example, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {programPath("sluice"), "explain", "--config",
                                      std::string(SLUICE_SOURCE_DIR) + "/examples/" + example};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command);
}

TEST(ExplainCommand, ExplainsTheQuickstart) {
  const ProgramOutcome got = explain("quickstart", {"--url", "http://any.test:10080/hello/x?key=geheim", "--resolve"});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  EXPECT_EQ(got.output,
            "request     GET any.test:10080/hello/x (HTTP/1.1)\n"
            "listener    demo/egress http, HTTP port 10080, every hostname\n"
            "rule        HTTPRoute demo/origin, rule 0, every hostname\n"
            "match       PathPrefix /hello\n"
            "backend     demo/origin, weight 1 of 1\n"
            "  goes to   origin.example.test, port 10443, HTTP/2 or HTTP/1.1, by ALPN\n"
            "  tls       Terminate, SNI origin.example.test, verified for origin.example.test\n"
            "  address   127.0.0.1 port 10443, loopback, permitted\n"
            "  filter    request: RequestHeaderModifier of the rule: set x-tenant\n"
            "timeouts    request none, backendRequest none, connect 5s\n"
            "attempts    1 at most\n");
}

TEST(ExplainCommand, ExplainsTheProcessors) {
  const ProgramOutcome got =
      explain("processors", {"--url", "http://any.test/v1/chat/completions", "--method", "POST", "-H",
                             "Authorization: Bearer geheim", "--client-address", "10.0.0.9"});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  EXPECT_THAT(got.output,
              AllOf(StartsWith("request     POST any.test/v1/chat/completions (HTTP/1.1) from 10.0.0.9\n"),
                    HasSubstr("passed over HTTPRoute demo/models, rule 0, every hostname, PathPrefix /v1, "
                              "header x-gateway-model-name: header x-gateway-model-name is missing\n"),
                    HasSubstr("step      request-body (before routing): sluice.dev/BodyRouter:v1 model of the "
                              "Gateway, priority 0, timeout 200ms\n"),
                    HasSubstr("the name was not resolved"), testing::Not(HasSubstr("geheim"))));
}

TEST(ExplainCommand, ExplainsCallsAndServices) {
  const ProgramOutcome call = explain("grpc", {"--url", "http://any.test/demo.Models/Predict", "--method", "POST", "-H",
                                               "content-type: application/grpc"});
  EXPECT_EQ(call.exitCode, 0) << call.errors;
  EXPECT_THAT(call.output, HasSubstr("rule        GRPCRoute demo/models, rule 0 (predict), every hostname\n"
                                     "match       service demo.Models, rpc method Predict\n"));
  const ProgramOutcome service = explain("services", {"--url", "http://any.test/x", "-o", "json"});
  EXPECT_EQ(service.exitCode, 0) << service.errors;
  EXPECT_THAT(
      service.output,
      HasSubstr(R"("addresses":[{"ip":"10.20.0.7","port":8080,"class":"private","permitted":true,"egress":null}])"));
}

TEST(ExplainCommand, ExplainsAnswersOfTheGatewayAndExitsWithZero) {
  const ProgramOutcome got = explain("quickstart", {"--url", "http://any.test/other"});
  EXPECT_EQ(got.exitCode, 0) << "the answer is what the configuration says";
  EXPECT_THAT(got.output, HasSubstr("passed over HTTPRoute demo/origin, rule 0, every hostname, PathPrefix /hello: the "
                                    "path does not match\nanswer      404, destination_not_found: no rule for this "
                                    "request\n"));
}

TEST(ExplainCommand, EndsWithOneIfTheConfigurationCannotBeServed) {
  const TempDir folder;
  const std::string path = folder.write("a.yaml", "apiVersion: [\n");
  const ProgramOutcome got = run({programPath("sluice"), "explain", "--config", path, "--url", "http://a.test/"});
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_EQ(got.output, "");
  EXPECT_THAT(got.errors, EndsWith("the configuration cannot be served\n"));
}

TEST(ExplainCommand, EndsWithTwoIfTheRequestIsNotGiven) {
  const ProgramOutcome port = explain("quickstart", {"--url", "http://any.test:1/"});
  EXPECT_EQ(port.exitCode, 2);
  EXPECT_EQ(port.errors, "no listener has port 1; there are: demo/egress http (http, port 10080)\n");
  EXPECT_EQ(explain("quickstart", {"--url", "any.test"}).exitCode, 2);
  EXPECT_EQ(explain("quickstart", {}).exitCode, 2);
}

// --- the page

class ExplainPage : public testing::Test {
 protected:
  static std::string rules() {
    return "    - matches: [{path: {value: /chat}, method: POST, headers: [{name: x-team, value: a}]}]\n" +
           backendRefs() + "    - matches: [{path: {value: /old}}]\n      filters: [{type: RequestRedirect, " +
           "requestRedirect: {hostname: new.test}}]\n" + "    - matches: [{path: {value: /broken}}]\n" +
           "      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: missing, port: 1}]\n";
  }
  std::string explained(const std::string& method, const std::string& path, const std::string& header) {
    const std::string query = "method=" + method + "&url=http://any.test:" + std::to_string(gateway_.port()) + path;
    return gateway_.adminGet("/explain?" + query + (header.empty() ? "" : "&header=" + header));
  }
  /// Sends the request, and returns its line of the access log.
  std::string logged(const std::string& method, const std::string& path, const std::string& header) {
    askRaw(gateway_.port(), method + " " + path + " HTTP/1.1\r\nHost: any.test\r\nContent-Length: 0\r\n" +
                                (header.empty() ? "" : header + "\r\n") + "\r\n");
    return gateway_.accessLog(++asked_).back();
  }

  EchoOrigin origin_{std::nullopt};
  GatewayProcess gateway_{{.backends = {{.port = origin_.port()}}, .routes = routeOfRules(rules())}};
  std::size_t asked_ = 0;
};

TEST_F(ExplainPage, AgreesWithTheAccessLog) {
  const std::string route = R"("route":{"kind":"HTTPRoute","name":"test/all","hostname":"","rule":)";
  EXPECT_THAT(explained("POST", "/chat", "x-team:+a"),
              AllOf(HasSubstr(route + "0"), HasSubstr(R"("name":"test/origin")"), HasSubstr(R"("answer":null)")));
  EXPECT_THAT(logged("POST", "/chat", "X-Team: a"),
              AllOf(HasSubstr(R"("http.response.status_code":200)"), HasSubstr(R"("route":"test/all")"),
                    HasSubstr(R"("backend":"test/origin")")));

  EXPECT_THAT(explained("POST", "/chat", ""), AllOf(HasSubstr(R"("route":null)"), HasSubstr("header x-team is missing"),
                                                    HasSubstr(R"("answer":{"status":404,)")));
  EXPECT_THAT(logged("POST", "/chat", ""), HasSubstr(R"("http.response.status_code":404)"));

  EXPECT_THAT(explained("GET", "/old/x", ""),
              AllOf(HasSubstr(route + "1"), HasSubstr(R"("answer":{"status":302,)"), HasSubstr("http://new.test")));
  EXPECT_THAT(logged("GET", "/old/x", ""), HasSubstr(R"("http.response.status_code":302)"));

  EXPECT_THAT(explained("GET", "/broken", ""),
              AllOf(HasSubstr(route + "2"), HasSubstr(R"("answer":{"status":500,"code":"proxy_configuration_error")")));
  EXPECT_THAT(logged("GET", "/broken", ""), HasSubstr(R"("http.response.status_code":500)"));

  EXPECT_THAT(explained("GET", "/%25zz", ""), HasSubstr(R"("answer":{"status":400,)"));
  EXPECT_THAT(logged("GET", "/%zz", ""), HasSubstr(R"("http.response.status_code":400)"));
}

TEST_F(ExplainPage, FollowsTheConfiguration) {
  gateway_.reload({.backends = {{.port = origin_.port()}},
                   .routes = routeOfRules("    - name: every\n      matches: [{path: {value: /}}]\n" + backendRefs())});
  EXPECT_THAT(explained("GET", "/chat", ""), HasSubstr(R"("rule":0,"ruleName":"every")"));
}

TEST_F(ExplainPage, TellsTheHealthThatTheGatewayKnows) {
  EXPECT_THAT(explained("POST", "/chat", "x-team:+a"), HasSubstr(R"("health":{"state":"unknown")"));
  logged("POST", "/chat", "X-Team: a");
  EXPECT_TRUE(eventually([&] {
    return explained("POST", "/chat", "x-team:+a").find(R"("health":{"state":"serving")") != std::string::npos;
  }));
}

TEST_F(ExplainPage, ResolvesNamesForTheCommand) {
  const auto command = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {programPath("sluice"),
                                      "explain",
                                      "--admin",
                                      "127.0.0.1:" + std::to_string(gateway_.adminPort()),
                                      "--url",
                                      "http://any.test:" + std::to_string(gateway_.port()) + "/chat",
                                      "--method",
                                      "POST",
                                      "-H",
                                      "x-team: a"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  EXPECT_THAT(command({}).output, HasSubstr("the name was not resolved; --resolve does it\n"));
  const ProgramOutcome resolved = command({"--resolve"});
  EXPECT_EQ(resolved.exitCode, 0) << resolved.errors;
  EXPECT_THAT(resolved.output,
              HasSubstr("  address   127.0.0.1 port " + std::to_string(origin_.port()) + ", loopback, permitted\n"));
}

TEST_F(ExplainPage, ShowsRoutesThatAreRefused) {
  const std::string call =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: "
      "calls}\nspec:\n"
      "  parentRefs: [{name: egress}]\n  hostnames: [any.test]\n  rules:\n    -\n" +
      backendRefs();
  gateway_.reload({.backends = {{.port = origin_.port()}}, .routes = routeOfRules(rules()) + call});
  EXPECT_THAT(explained("POST", "/chat", "x-team:+a"),
              HasSubstr(R"("refused":[{"kind":"GRPCRoute","name":"test/calls","parent":"test/egress","reason":)"
                        R"("HostnameConflict","message":)"));
}

TEST_F(ExplainPage, RefusesABadQueryWithAShortReason) {
  const auto answerTo = [&](const std::string& query) {
    return askRaw(gateway_.adminPort(), "GET /explain" + query + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  };
  for (const auto& [query, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "url is missing\n"},
           {"?url=any.test", "url: it has no scheme, as in https://host:port/path\n"},
           {"?url=https://any.test/", "no listener speaks https"},
           {"?url=http://any.test/&header=x", "header: a header is 'name: value'\n"},
           {"?url=http://any.test/" + std::string(8 * 1024, 'x'), "the query is longer than 8192 bytes\n"}}) {
    const ReceivedResponse got = answerTo(query);
    EXPECT_EQ(got.status, 400) << query;
    EXPECT_THAT(got.body, StartsWith(reason));
  }
}

}  // namespace
}  // namespace sluice::test
