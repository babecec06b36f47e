// Both forms in which explanations are printed, and what neither of them shows.
#include "proxy/control/explain/explanation_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::asking;
using test::explained;
using test::World;
using testing::HasSubstr;
using testing::Not;

TEST(ExplanationOutput, HasALineForEachFact) {
  const World world({test::kClass, test::kGateway, test::kBackend,
                     test::routeWithRules("rules: [{name: all, filters: [{type: RequestHeaderModifier, "
                                          "requestHeaderModifier: {remove: [x-a]}}], backendRefs: [{group: "
                                          "gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]")});
  EXPECT_EQ(explanationOutput(explained(world, "http://a.test/x")).text,
            "request     GET a.test/x (HTTP/1.1)\n"
            "listener    default/egress web, HTTP port 80, every hostname\n"
            "rule        HTTPRoute default/route, rule 0 (all), every hostname\n"
            "match       PathPrefix /\n"
            "backend     default/origin, weight 1 of 1\n"
            "  goes to   origin.test, port 8080, HTTP/1.1\n"
            "  tls       none\n"
            "  address   the name was not resolved; --resolve does it\n"
            "  filter    request: RequestHeaderModifier of the rule: remove x-a\n"
            "timeouts    request none, backendRequest none, connect 5s\n"
            "attempts    1 at most\n");
}

TEST(ExplanationOutput, SaysWhatTheGatewayAnswers) {
  const World world({test::kClass, test::gatewayWith("{name: web, protocol: HTTP, port: 80, hostname: b.test}")});
  EXPECT_EQ(explanationOutput(explained(world, "http://a.test/x")).text,
            "request     GET a.test/x (HTTP/1.1)\n"
            "listener    none\n"
            "rule        none\n"
            "answer      404, destination_not_found: no listener for this hostname\n");
}

TEST(ExplanationOutput, IsAnObjectWithAllFacts) {
  const World world({test::kClass, test::kGateway, test::kBackend, test::kRoute});
  const std::string text = content::outputJson(explanationOutput(explained(world, "http://a.test/x")).value);
  const auto value = content::parseJson(text);
  ASSERT_TRUE(value.ok()) << text;
  EXPECT_THAT(text, HasSubstr(R"("listener":{"gateway":"default/egress","name":"web","port":80,"protocol":"HTTP")"));
  EXPECT_THAT(text, HasSubstr(R"("route":{"kind":"HTTPRoute","name":"default/route","hostname":"","rule":0)"));
  EXPECT_THAT(text, HasSubstr(R"("timeouts":{"request":"0s","backendRequest":"0s","connect":"5s"})"));
  EXPECT_THAT(text, HasSubstr(R"("answer":null)"));
}

TEST(ExplanationOutput, SaysWhichCertificatesTheListenerWants) {
  const auto outputFor = [](const std::string& wanted) {
    Explanation explanation;
    explanation.listener = ExplainedListener{"default/egress", "web", 443, true, ""};
    explanation.listener->clientCertificates = wanted;
    return explanationOutput(explanation);
  };
  EXPECT_THAT(outputFor("required").text, HasSubstr("clients     certificate required\n"));
  EXPECT_THAT(outputFor("optional").text, HasSubstr("clients     certificate optional\n"));
  EXPECT_THAT(outputFor("any").text, HasSubstr("clients     certificate any (insecure fallback)\n"));
  EXPECT_THAT(content::outputJson(outputFor("any").value), HasSubstr(R"("clientCertificates":"any")"));
  EXPECT_THAT(outputFor("").text, Not(HasSubstr("clients")));
  EXPECT_THAT(content::outputJson(outputFor("").value), Not(HasSubstr("clientCertificates")));
}

TEST(ExplanationOutput, SaysWhichBackendGetsNoVia) {
  for (const bool sends : {true, false}) {
    Explanation explanation;
    explanation.backends.resize(1);
    explanation.backends[0].name = "default/origin";
    explanation.backends[0].sendsVia = sends;
    const content::Output output = explanationOutput(explanation);
    EXPECT_EQ(output.text.find("  via       Off: ") == std::string::npos, sends);
    EXPECT_EQ(content::outputJson(output.value).find(R"("via":"Off")") == std::string::npos, sends);
  }
}

TEST(ExplanationOutput, ShowsNoValueOfAHeaderAndNoQuery) {
  const World world(
      {test::kClass, test::kGateway, test::kBackend,
       test::routeWithRules("rules: [{matches: [{headers: [{name: authorization, value: Bearer geheim}]}, "
                            "{queryParams: [{name: key, value: geheim}]}], filters: [{type: "
                            "RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-key, value: "
                            "geheim}]}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, "
                            "name: origin, port: 8080}]}]")});
  for (const std::string& header : {std::string("Authorization: Bearer geheim"), std::string("Cookie: geheim")}) {
    const content::Output got = explanationOutput(explained(world, asking("http://a.test/x?key=geheim", {header})));
    EXPECT_THAT(content::outputJson(got.value), Not(HasSubstr("geheim")));
    EXPECT_THAT(got.text, Not(HasSubstr("geheim")));
  }
}

}  // namespace
}  // namespace sluice::control
