// Tests the compilation of a Backend's extensions into chains: types, phases, Secrets and grants, and the Backend's
// status.
#include "proxy/compile/processors/compile_processors.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using processing::Phase;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::RequestMaker;
using test::with;
using test::World;

World worldWithExtensions(const std::string& extensions, const std::vector<std::string_view>& more = {}) {
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + extensions + "], ");
  std::vector<std::string_view> documents = {kClass, kGateway, kRoute, backend};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, nullptr, test::processorTypes());
}

std::string use(const std::string& fields) { return "{name: a, type: 'sluice.dev/Test:v1', " + fields + "}"; }
std::string backendDegraded(const World& world) { return world.condition("Backend", "origin", "Degraded"); }

const processing::Chain* chainOf(const World& world) {
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  return rule == nullptr ? nullptr : rule->backends.front().backend->chain.get();
}

TEST(CompileProcessors, PutsStepsIntoTheirPhasesByPriority) {
  const World world = worldWithExtensions(
      "{name: late, type: 'sluice.dev/Test:v1', phase: request-headers, priority: 9}, {name: early, type: "
      "'sluice.dev/Test:v1', phase: request-headers, priority: -1, failOpen: true}, {name: other, type: "
      "'sluice.dev/Test:v1', phase: backend-request}");
  EXPECT_EQ(backendDegraded(world), "");
  const processing::Chain* chain = chainOf(world);
  ASSERT_NE(chain, nullptr);
  const auto steps = chain->of(Phase::kRequestHeaders);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].name, "early");
  EXPECT_TRUE(steps[0].failOpen);
  EXPECT_EQ(steps[1].name, "late");
  EXPECT_EQ(chain->of(Phase::kBackendRequest).size(), 1U);
  EXPECT_TRUE(chain->of(Phase::kResponseHeaders).empty());
}

TEST(CompileProcessors, LeavesARuleWithoutBackendsToItsSteps) {
  const std::string route = test::routeWithRules("rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [" +
                                                 use("phase: request-headers") + "]}]}]");
  const World world({kClass, kGateway, route}, nullptr, test::processorTypes());
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  EXPECT_FALSE(rule->failure);
  EXPECT_NE(rule->chain, nullptr);
  EXPECT_EQ(rule->withoutBackend().status, 500);
  EXPECT_EQ(world.message("HTTPRoute", "route", "Accepted"), "");
}

TEST(CompileProcessors, ReportsWhyAProcessorCannotRun) {
  EXPECT_EQ(backendDegraded(worldWithExtensions(use("phase: response-body"))), "True/UnsupportedPhase");
  EXPECT_EQ(backendDegraded(worldWithExtensions(use("phase: backend-request, preAuth: true"))),
            "True/InvalidPreAuthPhase");
  EXPECT_EQ(backendDegraded(worldWithExtensions(use("phase: request-headers, preAuth: true"))), "");
  EXPECT_EQ(backendDegraded(worldWithExtensions("{name: a, type: 'sluice.dev/Absent:v1', phase: connect}")),
            "True/UnknownExtensionType");
  EXPECT_EQ(backendDegraded(worldWithExtensions("{name: a, type: 'acme.test/Absent:v1', phase: connect}")),
            "True/UnsupportedExtensionType");
}

TEST(CompileProcessors, ListsTheirCalloutTargetsAmongTheBackends) {
  const auto asks = [](const std::string& server, const std::string& more = {}) {
    return "{name: a, type: 'sluice.dev/Asks:v1', phase: request-headers, config: {server: " + server + "}" + more +
           "}";
  };
  const std::string copy = with(with(kBackend, "name: origin,", "name: copy,"), "Origin.Test", "copy.test");
  const std::string mirrored = with(copy, "spec: {", "spec: {extensions: [" + asks("of-mirror") + "], ");
  const std::string filters =
      "{type: PayloadProcessing, payloadProcessing: [" + asks("of-rule") +
      "]}, {type: RequestMirror, requestMirror: {backendRef: {group: gateway.networking.k8s.io, kind: Backend, name: "
      "copy}}}";
  const std::string route = with(kRoute, "rules: [{", "rules: [{filters: [" + filters + "], ");
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + asks("of-backend") + "], ");
  const std::string gateway = R"(
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {name: all}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}
  processors: [)" + asks("of-gateway") +
                              "]\n";
  const World world({kClass, kGateway, route, backend, mirrored, gateway}, nullptr, test::processorTypes());
  std::set<std::string> names;
  for (const auto& plan : world.snapshot().backends) names.insert(plan->name);
  EXPECT_EQ(names, (std::set<std::string>{"default/copy", "default/origin", "of-backend", "of-gateway", "of-mirror",
                                          "of-rule"}));
}

TEST(CompileProcessors, TakesABackendsStepThatChangesABodyBeforeAuthentication) {
  const auto early = [](const std::string& type) {
    return "{name: a, type: 'sluice.dev/" + type + ":v1', preAuth: true}";
  };
  EXPECT_EQ(backendDegraded(worldWithExtensions(early("Inspects"))), "");
  const World world = worldWithExtensions(early("Streams"));
  EXPECT_EQ(backendDegraded(world), "");
  const processing::Chain& chain = *world.snapshot().backends.at(0)->chain;
  ASSERT_EQ(chain.of(processing::Phase::kRequestBody, processing::Round::kFirst).size(), 1U);
  EXPECT_TRUE(chain.of(processing::Phase::kRequestBody)[0].hidesClient);
}

TEST(CompileProcessors, LeavesOutAndReportsAProcessorThatFailsOpen) {
  const World world = worldWithExtensions(use("phase: request-headers") +
                                          ", {name: b, type: 'x.test/B:v1', phase: connect, failOpen: true}");
  EXPECT_EQ(backendDegraded(world), "True/UnsupportedExtensionType");
  EXPECT_EQ(world.outcome(), "default/origin");
  ASSERT_NE(chainOf(world), nullptr);
  EXPECT_EQ(chainOf(world)->of(Phase::kRequestHeaders).size(), 1U);
}

TEST(CompileProcessors, ProvidesSecretsThatTheBackendMayReferTo) {
  const std::string secret = test::secret("token", {{"key", "value"}});
  EXPECT_EQ(backendDegraded(worldWithExtensions(use("phase: request-headers, config: {secret: absent}"))),
            "True/InvalidSecretRef");
  EXPECT_EQ(backendDegraded(worldWithExtensions(use("phase: request-headers, config: {secret: token}"), {secret})),
            "True/InsecureCredential")
      << "the Backend has no TLS";
  const std::string elsewhere = with(secret, "name: token", "name: token, namespace: platform-secrets");
  const std::string reference = use("phase: request-headers, config: {secret: token, namespace: platform-secrets}");
  EXPECT_EQ(backendDegraded(worldWithExtensions(reference, {elsewhere})), "True/RefNotPermitted");
  EXPECT_EQ(worldWithExtensions(reference, {elsewhere}).outcome(), "500");
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: "
      "platform-secrets}\nspec: {from: [{group: gateway.networking.k8s.io, kind: Backend, namespace: default}], to: "
      "[{group: '', kind: Secret}]}\n";
  EXPECT_EQ(backendDegraded(worldWithExtensions(reference, {elsewhere, grant})), "True/InsecureCredential");
}

constexpr std::string_view kGuardsPipeline = R"(
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessingPipeline
metadata: {name: guards}
spec: {processors: [{name: b, type: 'sluice.dev/Test:v1', phase: request-headers, priority: 2}]}
)";

std::string mainRouteWithFilters(const std::string& filters) {
  return with(kRoute, "rules: [{", "rules: [{name: main, filters: [" + filters + "], ");
}
constexpr const char* kRefToPipeline =
    "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: guards}}";

std::string targeting(const std::string& target) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {" +
         target + "}\n  processors: [{name: t, type: 'sluice.dev/Test:v1', phase: request-headers, priority: 1}]\n";
}

TEST(CompileProcessors, AddsProcessorsOfFiltersToTheRule) {
  const World world({kClass, kGateway, kBackend, kGuardsPipeline, mainRouteWithFilters(kRefToPipeline)}, nullptr,
                    test::processorTypes());
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(test::stepNames(rule->chain.get()), "b;");
  EXPECT_EQ(rule->backends.front().chain, nullptr);
  EXPECT_EQ(world.outcome(), "default/origin");
}

TEST(CompileProcessors, AddsProcessorsOfABackendRefToItsBackendsOwn) {
  const std::string route =
      with(kRoute, "port: 8080}]", "port: 8080, filters: [" + std::string(kRefToPipeline) + "]}]");
  const std::string backend =
      with(kBackend, "spec: {", "spec: {extensions: [" + use("phase: request-headers, priority: 1") + "], ");
  const World world({kClass, kGateway, backend, kGuardsPipeline, route}, nullptr, test::processorTypes());
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->chain, nullptr);
  EXPECT_EQ(test::stepNames(rule->backends.front().chain.get()), "a;b;");
}

TEST(CompileProcessors, Answers500ForARuleWithAMissingPipeline) {
  const World world({kClass, kGateway, kBackend, mainRouteWithFilters(kRefToPipeline)}, nullptr,
                    test::processorTypes());
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_NE(world.message("HTTPRoute", "route", "Accepted").find("guards"), std::string::npos);
}

TEST(CompileProcessors, AddsProcessorsThatTargetARouteOrOneOfItsRules) {
  for (const char* section : {"", ", sectionName: main", ", sectionName: other"}) {
    const std::string target =
        targeting("group: gateway.networking.k8s.io, kind: HTTPRoute, name: route" + std::string(section));
    const World world({kClass, kGateway, kBackend, kGuardsPipeline, mainRouteWithFilters(kRefToPipeline), target},
                      nullptr, test::processorTypes());
    const bool meant = std::string(section).find("other") == std::string::npos;
    const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(test::stepNames(rule->chain.get()), meant ? "t;b;" : "b;") << section;
  }
}

TEST(CompileProcessors, AddsProcessorsThatTargetABackendToItsOwn) {
  const std::string own =
      with(kBackend, "spec: {", "spec: {extensions: [" + use("phase: request-headers, priority: 2") + "], ");
  const auto worldFor = [&](const std::string& target, const std::string& type = "sluice.dev/Test") {
    return World({kClass, kGateway, own, kRoute, with(targeting(target), "sluice.dev/Test", type)}, nullptr,
                 test::processorTypes());
  };
  const std::string backend = "group: gateway.networking.k8s.io, kind: Backend, name: origin";
  const World world = worldFor(backend);
  EXPECT_EQ(test::stepNames(chainOf(world)), "t;a;");
  EXPECT_EQ(chainOf(world)->all().front().scope, processing::Scope::kBackend);
  EXPECT_EQ(world.condition("PayloadProcessor", "p", "Accepted"), "True/Accepted");
  EXPECT_EQ(backendDegraded(world), "");
  EXPECT_EQ(test::stepNames(chainOf(worldFor(backend + ", sectionName: '8080'"))), "t;a;");
  const World elsewhere = worldFor(backend + ", sectionName: '81'");
  EXPECT_EQ(test::stepNames(chainOf(elsewhere)), "a;");
  EXPECT_EQ(elsewhere.condition("PayloadProcessor", "p", "Accepted"), "False/TargetNotFound");
}

TEST(CompileProcessors, ClosesABackendWithoutTheProcessorsThatTargetIt) {
  const std::string backend = "group: gateway.networking.k8s.io, kind: Backend, name: origin";
  const auto worldFor = [&](const std::string& processor) {
    return World({kClass, kGateway, kBackend, kRoute, processor}, nullptr, test::processorTypes());
  };
  const World absent = worldFor(with(targeting(backend), "sluice.dev/Test", "x.test/Absent"));
  EXPECT_EQ(absent.outcome(), "500");
  EXPECT_EQ(backendDegraded(absent), "True/UnsupportedExtensionType");
  EXPECT_NE(absent.message("Backend", "origin", "Degraded").find("PayloadProcessor default/p"), std::string::npos);
  EXPECT_EQ(absent.condition("PayloadProcessor", "p", "Degraded"), "True/UnsupportedExtensionType");
  EXPECT_EQ(absent.condition("Backend", "origin", "extension.sluice.dev/t"), "") << "it is the PayloadProcessor's";
  EXPECT_EQ(worldFor(with(targeting(backend), "spec:", "spec:\n  surprise: 1")).outcome(), "500");
  const World open = worldFor(
      with(with(targeting(backend), "sluice.dev/Test", "x.test/Absent"), "priority: 1", "priority: 1, failOpen: true"));
  EXPECT_EQ(open.outcome(), "default/origin");
  EXPECT_EQ(worldFor(targeting("kind: Backend, name: origin")).outcome(), "500") << "the group is not given";
}

TEST(CompileProcessors, AddsProcessorsToEachOfTheirTargets) {
  const std::string both =
      with(targeting("group: gateway.networking.k8s.io, kind: HTTPRoute, name: route"), "processors:",
           "targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}, {kind: "
           "Gateway, name: egress}, {kind: Gateway, name: other}]\n  processors:");
  const World world({kClass, kGateway, kBackend, kRoute, both}, nullptr, test::processorTypes());
  const routing::RouteMatch match =
      routing::routesOf(world.bind(80)->service).match(RequestMaker("GET", "a.test", "/").head());
  EXPECT_EQ(test::stepNames(match.rule->chain.get()), "t;");
  EXPECT_EQ(test::stepNames(match.rule->backends.front().backend->chain.get()), "t;");
  EXPECT_EQ(test::stepNames(match.listener->chain.get()), "t;");
  const config::ObjectStatus* status = world.status("PayloadProcessor", "p");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 4U);
  EXPECT_EQ(status->parents[1].parentRef.object.kind, "Backend");
  EXPECT_EQ(config::findCondition(status->parents[1].conditions, "Accepted")->reason, "Accepted");
  EXPECT_EQ(config::findCondition(status->parents[3].conditions, "Accepted")->reason, "TargetNotFound");
}

// Uses in a route and uses of PayloadProcessors are ordered by the age of their objects.
TEST(CompileProcessors, OrdersProcessorsOfARouteAmongThoseThatTargetItByAge) {
  const auto order = [](const std::string& processor, const std::string& route) {
    std::string target =
        with(targeting("group: gateway.networking.k8s.io, kind: HTTPRoute, name: route"), "priority: 1", "priority: 2");
    target = with(target, "metadata: {name: p", "metadata: {" + processor);
    const std::string ours = with(mainRouteWithFilters(kRefToPipeline), "name: route", "name: route" + route);
    const World world({kClass, kGateway, kBackend, kGuardsPipeline, ours, target}, nullptr, test::processorTypes());
    const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
    return rule == nullptr ? "" : test::stepNames(rule->chain.get());
  };
  EXPECT_EQ(order("name: a", ""), "t;b;") << "by name, if there are no times";
  EXPECT_EQ(order("name: z", ""), "b;t;");
  const std::string old = ", creationTimestamp: '2020-01-01T00:00:00Z'";
  const std::string young = ", creationTimestamp: '2021-01-01T00:00:00Z'";
  EXPECT_EQ(order("name: a" + young, old), "b;t;");
  EXPECT_EQ(order("name: z" + old, young), "t;b;");
}

TEST(CompileProcessors, AddsProcessorsThatTargetAGatewayToItsListeners) {
  const std::string gateway = "group: gateway.networking.k8s.io, kind: Gateway, name: egress";
  const auto listenerOf = [](const World& world) {
    return routing::routesOf(world.bind(80)->service).match(RequestMaker("GET", "a.test", "/").head()).listener;
  };
  const World world({kClass, kGateway, kBackend, kRoute, targeting(gateway)}, nullptr, test::processorTypes());
  EXPECT_EQ(test::stepNames(listenerOf(world)->chain.get()), "t;");
  const World closed({kClass, kGateway, kBackend, kRoute, with(targeting(gateway), "sluice.dev/Test", "x.test/Absent")},
                     nullptr, test::processorTypes());
  EXPECT_EQ(test::stepNames(listenerOf(closed)->chain.get()), "UnsupportedExtensionType;")
      << "it refuses every request";
  EXPECT_EQ(world.listenerCondition("egress", "web", "Degraded"), "");
  EXPECT_EQ(closed.listenerCondition("egress", "web", "Degraded"), "True/UnsupportedExtensionType");
  const World refused({kClass, kGateway, kBackend, kRoute, with(targeting(gateway), "spec:", "spec:\n  surprise: 1")},
                      nullptr, test::processorTypes());
  EXPECT_EQ(test::stepNames(listenerOf(refused)->chain.get()), "Invalid;");
}

// No step of a later phase ever runs before routing.
TEST(CompileProcessors, RefusesALaterPhaseOfTheTypeBeforeRouting) {
  const std::string early = with(with(targeting("group: gateway.networking.k8s.io, kind: Gateway, name: egress"),
                                      "spec:", "spec:\n  phase: PreRouting"),
                                 ", phase: request-headers", "");
  const auto listenerOf = [](const World& world) {
    return routing::routesOf(world.bind(80)->service).match(RequestMaker("GET", "a.test", "/").head()).listener;
  };
  processing::BuiltinTypes types = test::processorTypes();
  types.front().phases = {processing::Phase::kRequestHeaders};
  const World world({kClass, kGateway, kBackend, kRoute, early}, nullptr, types);
  EXPECT_EQ(test::stepNames(listenerOf(world)->preRouting.get()), "t;");
  EXPECT_EQ(test::stepNames(listenerOf(world)->chain.get()), "");
  types.front().phases = {processing::Phase::kBackendRequest};
  const World closed({kClass, kGateway, kBackend, kRoute, early}, nullptr, types);
  EXPECT_EQ(test::stepNames(listenerOf(closed)->preRouting.get()), "");
  EXPECT_EQ(test::stepNames(listenerOf(closed)->chain.get()), "UnsupportedPhase;") << "it refuses every request";
  EXPECT_EQ(closed.listenerCondition("egress", "web", "Degraded"), "True/UnsupportedPhase");
}

}  // namespace
}  // namespace sluice::compile
