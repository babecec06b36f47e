// Tests the order in which the steps of a request run, from outside: steps of every scope add to one field, and the
// origin or the client reads them in the order in which they ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kPipeline =
    "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: line}}";

/// Returns the values of x-step in a head, in their order: "a b c".
std::string stepsIn(const std::string& head) {
  std::istringstream lines(head);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (countOf(line.substr(0, 8), "x-step: ") == 0) continue;
    while (line.back() == '\r') line.pop_back();
    result += (result.empty() ? "" : " ") + line.substr(8);
  }
  return result;
}

std::string step(const std::string& value, const std::string& phase, int priority = 0) {
  return adding(value, phase, "x-step", value, priority);
}

std::string object(const std::string& kind, const std::string& name, const std::string& spec,
                   const std::string& created = {}) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: " + kind + "\nmetadata: {namespace: test, name: " + name +
         (created.empty() ? "" : ", creationTimestamp: '" + created + "'") + "}\nspec: {" + spec + "}\n";
}

/// Returns a PayloadProcessor that targets an object of this test.
std::string on(const std::string& target, const std::string& name, const std::string& uses,
               const std::string& more = {}, const std::string& created = {}) {
  return object("PayloadProcessor", name,
                "targetRef: {group: gateway.networking.k8s.io, " + target + "}, " + more + "processors: [" + uses + "]",
                created);
}

/// Returns the rule "main" of the route "all", with these filters and those of its one weighted backend.
std::string ruleOf(const std::string& filters, const std::string& ofShare = {}) {
  return routeOfRules("    - name: main\n      filters: [" + filters + "]\n      backendRefs: [" +
                      backendRef("origin", ", filters: [" + ofShare + "]") + "]\n");
}

class ProcessorOrder : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& routes, const std::string& extensions = {}) const {
    return {.backends = {{.port = origin_.port(), .extensions = extensions}}, .routes = routes};
  }
  /// Returns the marks that the steps of the request added, as the origin gets them.
  std::string toOrigin(const GatewaySpec& spec, const std::vector<std::string>& more = {}) const {
    const GatewayProcess gateway(spec);
    EXPECT_EQ(statusOf(gateway, "/", more), "200");
    return origin_.heads().empty() ? "" : stepsIn(origin_.heads().back());
  }
  static std::string toClient(const GatewaySpec& spec, const std::vector<std::string>& more = {}) {
    const GatewayProcess gateway(spec);
    return stepsIn(ask(gateway, "/", more));
  }
  /// Returns steps of one phase at every place where they are allowed, with the route "all" after the processors that
  /// target it; each step is named by its place.
  GatewaySpec everywhere(const std::string& phase) const {
    return specOf(
        ruleOf(kPipeline + std::string(", ") + inlined(step("inline", phase)), inlined(step("share", phase))) +
            object("PayloadProcessingPipeline", "line", "processors: [" + step("pipeline", phase) + "]") +
            on("kind: Gateway, name: egress", "a1", step("gateway", phase)) +
            on("kind: Gateway, name: egress, sectionName: http", "a2", step("listener", phase)) +
            on("kind: HTTPRoute, name: all", "a3", step("route", phase)) +
            on("kind: HTTPRoute, name: all, sectionName: main", "a4", step("rule", phase)) +
            on("kind: HTTPRoute, name: all, sectionName: other", "a5", step("never", phase)),
        "[" + step("backend", phase) + "]");
  }

  RecordingOrigin origin_{[](std::size_t) { return kOk; }};
};

TEST_F(ProcessorOrder, GoesFromTheGatewayToTheBackendInEveryPhase) {
  constexpr const char* kAll = "gateway listener route rule pipeline inline share backend";
  for (const std::vector<std::string>& version : {std::vector<std::string>{}, {"--http2-prior-knowledge"}}) {
    EXPECT_EQ(toOrigin(everywhere("request-headers"), version), kAll);
    EXPECT_EQ(toOrigin(everywhere("backend-request"), version), kAll);
  }
  EXPECT_EQ(toClient(everywhere("backend-response")), kAll) << "the same order, not the reverse";
  EXPECT_EQ(toClient(everywhere("response-headers")), kAll);
}

/// These priorities run against the order of scopes.
constexpr int kLate = 3;
constexpr int kMiddle = 2;
constexpr int kEarly = -1;

TEST_F(ProcessorOrder, GoesByPriorityBeforeScope) {
  const auto spec = [&](const std::string& phase) {
    return specOf(ruleOf(inlined(step("route", phase, kMiddle))) +
                      on("kind: Gateway, name: egress", "a", step("gateway", phase, kLate)),
                  "[" + step("backend-2", phase, kLate) + ", " + step("backend-1", phase, kEarly) + "]");
  };
  EXPECT_EQ(toOrigin(spec("backend-request")), "backend-1 route gateway backend-2");
  EXPECT_EQ(toClient(spec("backend-response")), "backend-1 route gateway backend-2");
  EXPECT_EQ(toClient(spec("response-headers")), "backend-1 route gateway backend-2");
  EXPECT_EQ(toOrigin(spec("request-headers")), "route gateway backend-1 backend-2")
      << "steps of a Backend run for each attempt, after the steps that run once";
}

TEST_F(ProcessorOrder, GoesByAgeThenNameThenPositionWithinAScope) {
  const auto at = [](const std::string& name, const std::string& created) {
    return on("kind: Gateway, name: egress", name,
              step(name + "-1", "request-headers") + ", " + step(name + "-2", "request-headers"), "", created);
  };
  EXPECT_EQ(toOrigin(specOf(ruleOf("") + at("z", "2020-01-01T00:00:00Z") + at("c", "2021-01-01T00:00:00Z") +
                            at("b", "2021-01-01T00:00:00Z"))),
            "z-1 z-2 b-1 b-2 c-1 c-2");
}

TEST_F(ProcessorOrder, GoesByTheAgeOfTheObjectsThatHoldARoutesUses) {
  std::string route = ruleOf(inlined(step("inline", "request-headers")));
  route.replace(route.find("name: all}"), 10, "name: all, creationTimestamp: '2021-01-01T00:00:00Z'}");
  const auto at = [](const std::string& name, const std::string& created) {
    return on("kind: HTTPRoute, name: all", name, step(name, "request-headers"), "", created);
  };
  EXPECT_EQ(toOrigin(specOf(route + at("younger", "2022-01-01T00:00:00Z") + at("older", "2020-01-01T00:00:00Z"))),
            "older inline younger");
}

TEST_F(ProcessorOrder, HasThePhasesOfARequestOneAfterTheOther) {
  EXPECT_EQ(toOrigin(specOf(ruleOf(
                inlined(step("second", "backend-request", kEarly) + ", " + step("first", "request-headers", kLate))))),
            "first second");
  EXPECT_EQ(toClient(specOf(ruleOf(inlined(step("second", "response-headers", kEarly) + ", " +
                                           step("first", "backend-response", kLate))))),
            "first second");
}

TEST_F(ProcessorOrder, ShowsEachStepTheEditsOfEarlierOnes) {
  const std::string clear = use("HeaderModifier", "clear", "request-headers", "remove: [x-step]", ", priority: 2");
  EXPECT_EQ(toOrigin(specOf(ruleOf(inlined(step("gone", "request-headers", 1) + ", " + clear + ", " +
                                           step("stays", "request-headers", 3)))),
                     {"-H", "x-step: sent"}),
            "stays");
}

TEST_F(ProcessorOrder, EndsWithARefusal) {
  const std::string refusing = use("QoSController", "none", "request-headers", "requestsPerMinute: 1");
  const std::string key = on("kind: Gateway, name: egress", "a", refusing);
  const GatewayProcess gateway(specOf(ruleOf("") + key));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  EXPECT_EQ(statusOf(gateway, "/"), "429");
  EXPECT_EQ(origin_.heads().size(), 1U);
}

TEST_F(ProcessorOrder, RunsResponseHeadersButNoBackendResponseForLocalReplies) {
  const std::string both = step("kept", "response-headers") + ", " + step("skipped", "backend-response");
  const std::string limited = use("QoSController", "none", "request-headers", "requestsPerMinute: 1");
  GatewaySpec spec = specOf(
      routeOfRules("    - filters: [" + inlined(both + ", " + limited) + "]\n" + backendRefs() +
                   "    - matches: [{path: {value: /moved}}]\n      filters: [" + inlined(both) +
                   ", {type: RequestRedirect, requestRedirect: {path: {type: ReplaceFullPath, replaceFullPath: /}}}]\n"
                   "    - matches: [{path: {value: /gone}}]\n      filters: [" +
                   inlined(both) + "]\n      backendRefs: [" + backendRef("gone") + "]\n"));
  spec.backends.push_back({.name = "gone", .hostname = "gone.test", .port = freePort()});
  const GatewayProcess gateway(spec);
  EXPECT_EQ(stepsIn(ask(gateway, "/")), "skipped kept") << "the origin's answer has both";
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    const std::string refused = ask(gateway, "/", {version});
    EXPECT_THAT(refused, HasSubstr(" 429"));
    EXPECT_EQ(stepsIn(refused), "kept");
    const std::string unreachable = ask(gateway, "/gone", {version});
    EXPECT_THAT(unreachable, HasSubstr(" 503"));
    EXPECT_EQ(stepsIn(unreachable), "kept");
    const std::string moved = ask(gateway, "/moved", {version});
    EXPECT_THAT(moved, HasSubstr(" 302"));
    EXPECT_EQ(stepsIn(moved), "kept");
  }
}

TEST_F(ProcessorOrder, TakesLiteralsOfGep5091AsEdits) {
  const std::string edit =
      "{name: edit, type: InProcess, inProcess: {request: {setHeaders: [{name: x-step, value: '\"set\"'}], "
      "removeHeaders: [x-away]}}}";
  const std::vector<std::string> sent = {"-H", "x-step: sent", "-H", "x-away: sent"};
  for (const std::string& routes :
       {ruleOf(inlined(edit)), ruleOf("") + on("kind: HTTPRoute, name: all", "a", edit, "phase: PostRouting, ")}) {
    EXPECT_EQ(toOrigin(specOf(routes), sent), "set");
    EXPECT_EQ(countOf(origin_.heads().back(), "x-away"), 0U);
  }
}

TEST_F(ProcessorOrder, RunsTheGatewaysResponseHeadersForUnroutedRequests) {
  GatewaySpec spec = specOf(routeOfRules("    - matches: [{path: {value: /known}}]\n" + backendRefs()) +
                            on("kind: Gateway, name: egress", "a", step("gateway", "response-headers")));
  const GatewayProcess gateway(spec);
  const std::string answer = ask(gateway, "/unknown");
  EXPECT_THAT(answer, HasSubstr(" 404"));
  EXPECT_EQ(stepsIn(answer), "gateway");
}

TEST_F(ProcessorOrder, RunsBeforeRoutingBeforeTheMatch) {
  const std::string chooses = use("HeaderModifier", "choose", "request-headers", "set: [{name: x-model, value: b}]");
  GatewaySpec spec = specOf(routeOfRules("    - matches: [{headers: [{name: x-model, value: b}]}]\n" + backendRefs()) +
                            on("kind: Gateway, name: egress", "a", chooses, "phase: PreRouting, "));
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/"), "200");
}

TEST_F(ProcessorOrder, RunsABackendsRequestHeadersBeforeItIsDialled) {
  const std::string refusing = use("QoSController", "none", "request-headers", "requestsPerMinute: 1");
  GatewaySpec spec = specOf("", "[" + refusing + "]");
  spec.backends[0].port = freePort();  // has no listener
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/"), "503");
  EXPECT_EQ(statusOf(gateway, "/"), "429");
}

}  // namespace
}  // namespace sluice::test
