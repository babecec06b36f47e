// Tests which listener, route and rule an explanation names, and the answer that it predicts.
#include "proxy/control/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/compile/processor_types.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::asking;
using test::explained;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kExplainedRef =
    "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]";

/// Returns the rules of the test's route, each with the one Backend.
std::string rulesOf(const std::vector<std::string>& matches) {
  std::string text = "rules:\n";
  for (const std::string& each : matches) text += "  - " + each + "\n    " + std::string(kExplainedRef) + "\n";
  return test::routeWithRules(text);
}

TEST(Explain, NamesListenerRouteRuleAndMatch) {
  const World world(
      {test::kClass, test::kGateway, test::kBackend,
       rulesOf(
           {"matches: [{path: {value: /other}}]",
            "name: chat\n    matches: [{path: {value: /v1}, method: POST, headers: [{name: X-Team, value: secret}]},"
            " {path: {type: Exact, value: /v2}}]"})});
  RequestInQuestion question = asking("http://API.test/v1//chat?key=1", {"X-Team: secret"});
  question.method = "POST";
  question.clientAddress = "10.0.0.1";
  const Explanation got = explained(world, question);
  EXPECT_EQ(got.path, "/v1/chat") << "as the data plane matches it";
  EXPECT_EQ(got.authority, "api.test");
  EXPECT_EQ(got.clientAddress, "10.0.0.1");
  ASSERT_TRUE(got.listener);
  EXPECT_EQ(got.listener->gateway + " " + got.listener->name, "default/egress web");
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->kind + " " + got.rule->route, "HTTPRoute default/route");
  EXPECT_EQ(got.rule->index, 1U);
  EXPECT_EQ(got.rule->name, "chat");
  EXPECT_EQ(got.rule->match, "PathPrefix /v1, method POST, header x-team");
  EXPECT_THAT(got.matches, ElementsAre("PathPrefix /v1, method POST, header x-team", "Exact /v2"));
  EXPECT_FALSE(got.answer);
}

TEST(Explain, SaysWhyOtherRulesDoNotGetTheRequest) {
  const World world({test::kClass, test::kGateway, test::kBackend,
                     rulesOf({"matches: [{path: {value: /a}, method: POST}]",
                              "matches: [{path: {value: /a}, headers: [{name: x-a, value: '1'}]}]",
                              "matches: [{path: {value: /a}, queryParams: [{name: q, value: '1'}]}]",
                              "matches: [{path: {value: /b}}]", "matches: [{path: {value: /a}}]",
                              "matches: [{path: {value: /a}}]", "matches: [{path: {value: /}}]"})});
  EXPECT_THAT(test::passedOver(explained(world, asking("http://a.test/a?q=2"))),
              ElementsAre("default/route/0: the method does not match", "default/route/1: header x-a is missing",
                          "default/route/2: query parameter q does not match",
                          "default/route/5: it fits too, but an earlier rule of the route goes first",
                          "default/route/6: it fits too, but a more specific path goes first"));
  EXPECT_THAT(test::passedOver(explained(world, asking("http://a.test/a", {"x-a: 2"})))[1],
              HasSubstr("header x-a does not match"));
}

TEST(Explain, NamesWhatDoesNotCountInMatching) {
  const std::string gateway = test::gatewayWith("{name: web, protocol: HTTP, port: 81}");
  const World plain({test::kClass, gateway, test::kBackend, rulesOf({"matches: [{path: {value: /admin}}]"})});
  const Explanation before = explained(plain, "http://a.test:81/admin;v=1");
  EXPECT_EQ(before.authority, "a.test:81");
  EXPECT_FALSE(before.rule);
  const World world({test::kClass, gateway, test::kBackend, rulesOf({"matches: [{path: {value: /admin}}]"}),
                     "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: "
                     "[{group: gateway.networking.k8s.io, kind: Gateway, name: egress}], matching: "
                     "{stripAuthorityPort: true, ignorePathParameters: true}}\n"});
  const Explanation got = explained(world, "http://a.test:81/admin;v=1");
  EXPECT_EQ(got.authority, "a.test");
  EXPECT_EQ(got.path, "/admin;v=1") << "as the Backend gets it";
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->match, "PathPrefix /admin");
  EXPECT_THAT(got.notes, ElementsAre("the listener takes the port out of the authority",
                                     "the listener matches the path without its parameters: /admin"));
  EXPECT_THAT(explained(world, "http://a.test:81/admin").notes, testing::SizeIs(1));
}

TEST(Explain, SaysWhatTheGatewayAnswersIfThereIsNoRule) {
  const World world({test::kClass, test::kGateway, test::kBackend, rulesOf({"matches: [{path: {value: /a}}]"})});
  const Explanation got = explained(world, "http://a.test/b");
  EXPECT_FALSE(got.rule);
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 404);
  EXPECT_EQ(got.answer->code, "destination_not_found");
  EXPECT_THAT(test::passedOver(got), ElementsAre("default/route/0: the path does not match"));
}

TEST(Explain, RefusesWhatTheCodecsAndTheTableRefuse) {
  const World world({test::kClass, test::kGateway, test::kBackend, rulesOf({"matches: [{path: {value: /a}}]"})});
  const auto statusOf = [&](const RequestInQuestion& question) {
    const Explanation got = explained(world, question);
    return got.answer ? got.answer->status : 0;
  };
  EXPECT_EQ(statusOf(asking("http://a.test/a/%zz")), 400);
  EXPECT_EQ(statusOf(asking("http://a.test/a/..%2Fb")), 400);
  EXPECT_EQ(statusOf(asking("http://a.test/a%2Fb")), 400) << "a rule of this host matches by path";
  EXPECT_EQ(statusOf(asking("http://a.test/a", {"Content-Length: x"})), 400);
  EXPECT_EQ(statusOf(asking("http://a.test/a", {"Expect: miracles"})), 417);
  RequestInQuestion trace = asking("http://a.test/a", {"Max-Forwards: 0"});
  trace.method = "TRACE";
  EXPECT_EQ(statusOf(trace), 501);
  RequestInQuestion connect = asking("http://a.test/a");
  connect.method = "CONNECT";
  EXPECT_EQ(statusOf(connect), 405);
}

TEST(Explain, SaysThatBackendsGetAnotherSpellingOfThePath) {
  const std::string rewritten =
      "matches: [{path: {value: /b}}]\n    filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, "
      "replaceFullPath: /x}}}]";
  const World world(
      {test::kClass, test::kGateway, test::kBackend, rulesOf({"matches: [{path: {value: /a}}]", rewritten})});
  const Explanation got = explained(world, "http://a.test//%61?q");
  EXPECT_EQ(got.path, "/a");
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->index, 0U);
  EXPECT_THAT(got.notes, ElementsAre("this form of the path decides; Backends get it as it was sent: //%61"));
  for (const char* path : {"/a/b", "/./a", "/%62"}) {
    EXPECT_THAT(explained(world, "http://a.test" + std::string(path)).notes, testing::IsEmpty()) << path;
  }
}

TEST(Explain, AnswersWithTheFailureOfARule) {
  const World world({test::kClass, test::kGateway, rulesOf({"matches: [{path: {value: /}}]"})});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_FALSE(got.answer) << "the reference is broken, and its weight counts";
  ASSERT_EQ(got.backends.size(), 1U);
  ASSERT_TRUE(got.backends[0].answer);
  EXPECT_EQ(got.backends[0].answer->status, 500);
  EXPECT_EQ(got.backends[0].name, "");
}

TEST(Explain, AnswersByARedirect) {
  const World world({test::kClass, test::kGateway,
                     test::routeWithRules("rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, "
                                          "hostname: new.test, statusCode: 301}}]}]")});
  const Explanation got = explained(world, "http://a.test/old?token=1");
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 301);
  EXPECT_EQ(got.answer->location, "https://new.test/old") << "without the query, which may hold a secret";
  EXPECT_THAT(test::filterNames(got.filters), ElementsAre("RequestRedirect of rule"));
  EXPECT_THAT(got.backends, IsEmpty());
}

TEST(Explain, SurveysAPreflightAsTheRequestThatItAnnounces) {
  const World world({test::kClass, test::kGateway, test::kBackend,
                     rulesOf({"matches: [{method: PUT}]\n    filters: [{type: CORS, cors: {allowOrigins: ['*']}}]"})});
  RequestInQuestion question =
      asking("http://a.test/", {"Origin: https://page.test", "Access-Control-Request-Method: PUT"});
  question.method = "OPTIONS";
  const Explanation got = explained(world, question);
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->index, 0U);
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 204);
  EXPECT_THAT(test::filterNames(got.filters), ElementsAre("CORS of rule"));
}

TEST(Explain, RefusesCredentialsForConnectionsIfTheSettingsSaySo) {
  const std::string classWithSettings = test::with(test::kClass, "controllerName: sluice.dev/egress-gateway",
                                                   "controllerName: sluice.dev/egress-gateway, parametersRef: {group: "
                                                   "'', kind: ConfigMap, namespace: default, name: settings}");
  const World world({classWithSettings, test::configMap("settings", "settings.yaml", "connectionAuth: Refuse"),
                     test::kGateway, test::kBackend, test::kRoute});
  const Explanation got = explained(world, asking("http://a.test/", {"Authorization: NTLM abc"}));
  ASSERT_EQ(got.backends.size(), 1U);
  ASSERT_TRUE(got.backends[0].answer);
  EXPECT_EQ(got.backends[0].answer->status, 403);
  EXPECT_FALSE(explained(world, asking("http://a.test/", {"Authorization: Bearer abc"})).backends[0].answer);
}

TEST(Explain, ExplainsCallsOfGrpc) {
  constexpr std::string_view kCalls = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls}
spec:
  parentRefs: [{name: egress}]
  rules:
    - name: models
      matches: [{method: {service: a.Models, method: Get}}]
      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]
)";
  const World world({test::kClass, test::kGateway, test::kBackend, kCalls});
  const auto call = [&](const std::string& path, std::vector<std::string> headers) {
    RequestInQuestion question = asking("http://a.test" + path, std::move(headers));
    question.method = "POST";
    return explained(world, question);
  };
  const Explanation got = call("/a.Models/Get", {"content-type: application/grpc"});
  EXPECT_EQ(got.version, "2");
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->kind + " " + got.rule->name, "GRPCRoute models");
  EXPECT_EQ(got.rule->match, "service a.Models, rpc method Get");
  const Explanation unknown = call("/a.Models/Put", {"content-type: application/grpc"});
  ASSERT_TRUE(unknown.answer);
  EXPECT_EQ(unknown.answer->status, 200);
  EXPECT_EQ(unknown.answer->grpcStatus, 12U) << "UNIMPLEMENTED";
  const Explanation plain = call("/a.Models/Get", {});
  ASSERT_TRUE(plain.answer);
  EXPECT_EQ(plain.answer->status, 415);
}

TEST(Explain, TakesTheHostOfTheUrlForTheNameOfTheHandshake) {
  const std::string certificate = ", tls: {certificateRefs: [{name: pair}]}}";
  const World world({test::kClass,
                     test::gatewayWith("{name: a, protocol: HTTPS, port: 443, hostname: a.test" + certificate +
                                       ", {name: b, protocol: HTTPS, port: 443, hostname: b.test" + certificate),
                     test::keyPair("pair", test::server()), test::kBackend, test::kRoute});
  const Explanation got = explained(world, "https://b.test/");
  ASSERT_TRUE(got.listener);
  EXPECT_EQ(got.listener->name, "b");
  EXPECT_TRUE(got.listener->tls);
  EXPECT_FALSE(got.answer);
  const Explanation other = explained(world, asking("https://b.test/", {"Host: a.test"}));
  EXPECT_FALSE(other.listener);
  EXPECT_EQ(other.authority, "a.test");
  ASSERT_TRUE(other.answer);
  EXPECT_EQ(other.answer->status, 421);
  EXPECT_EQ(other.answer->code, "misdirected_request");
}

TEST(Explain, SendsAWebSocketToABackendOfHttp2WhoseSettingsItCannotKnow) {
  const World world({test::kClass, test::kGateway,
                     "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\n"
                     "spec: {ports: [{port: 80, appProtocol: kubernetes.io/h2c}]}\n",
                     test::routeWithRules("rules: [{backendRefs: [{name: shop, port: 80}]}]")});
  const Explanation got = explained(
      world, asking("http://a.test/", {"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}));
  ASSERT_EQ(got.backends.size(), 1U);
  EXPECT_FALSE(got.backends[0].answer);
}

TEST(Explain, ShowsTheStepsOfARuleThatNamesNoBackends) {
  const World world(
      {test::kClass, test::kGateway,
       test::routeWithRules("rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [{name: deny, "
                            "type: 'sluice.dev/Test:v1', phase: request-headers}]}]}]")},
      nullptr, compile::test::processorTypes());
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 500);
  EXPECT_EQ(got.answer->code, "proxy_configuration_error");
  ASSERT_EQ(got.steps.size(), 1U);
  EXPECT_EQ(got.steps[0].name, "deny");
  EXPECT_THAT(got.notes, testing::Contains(HasSubstr("or answer it")));
}

TEST(Explain, AnswersForAListenerThatIsNotServed) {
  const World world({test::kClass, test::with(test::kGateway, "listeners:", "tls: {backend: {}}\n  listeners:"),
                     test::kBackend, test::kRoute});
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_TRUE(got.rule);
  EXPECT_EQ(got.rule->route, "");
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 500);
}

TEST(Explain, RefusesQuestionsThatNobodyCanAnswer) {
  const World world({test::kClass, test::kGateway, test::kBackend, test::kRoute});
  EXPECT_THAT(test::refusedQuestion(world, asking("a.test/x")), HasSubstr("url: it has no scheme"));
  EXPECT_THAT(test::refusedQuestion(world, asking("ftp://a.test/")),
              HasSubstr("url: its scheme is not http, https or connect"));
  EXPECT_THAT(test::refusedQuestion(world, asking("http:///x")), HasSubstr("url: it has no valid host"));
  EXPECT_THAT(test::refusedQuestion(world, asking("http://a.test/", {"x"})), HasSubstr("header: a header is"));
  RequestInQuestion question = asking("http://a.test/");
  question.clientAddress = "somewhere";
  EXPECT_THAT(test::refusedQuestion(world, question), HasSubstr("client address: it is no IP address"));
}

}  // namespace
}  // namespace sluice::control
