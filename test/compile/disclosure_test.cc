// Tests that conditions disclose only the kind of objects of other namespaces and the reason of their faults.
#include "proxy/compile/ground/disclosure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns all conditions of objects in that namespace as one text.
std::string toldIn(const World& world, std::string_view nameSpace) {
  std::string text;
  for (const config::ObjectStatus& each : world.result().statuses) {
    if (each.nameSpace != nameSpace) continue;
    for (const config::Condition& condition : each.conditions) text += condition.message + "\n";
    for (const config::ParentStatus& parent : each.parents) {
      for (const config::Condition& condition : parent.conditions) text += condition.message + "\n";
    }
    for (const config::ControllerStatus& controller : each.controllers) {
      for (const config::Condition& condition : controller.conditions) text += condition.message + "\n";
    }
    for (const config::ListenerStatus& listener : each.listeners) {
      for (const config::Condition& condition : listener.conditions) text += condition.message + "\n";
    }
  }
  return text;
}

const std::string& openGateway() {
  static const std::string text =
      test::gatewayWith("{name: web, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}");
  return text;
}

/// Returns a route in the namespace theirs at the Gateway in the namespace default. It leads to a Backend in its own
/// namespace.
std::string theirRoute(const std::string& more = {}) {
  return with(with(kRoute, "name: route,", "name: mine, namespace: theirs," + more), "{name: egress}",
              "{name: egress, namespace: default}");
}
const std::string& theirBackend() {
  static const std::string text = with(kBackend, "name: origin,", "name: origin, namespace: theirs,");
  return text;
}

World openWorld(const std::vector<std::string>& more, processing::BuiltinTypes types = test::processorTypes()) {
  std::vector<std::string_view> documents = {kClass, openGateway(), kBackend, theirBackend()};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, nullptr, std::move(types));
}

TEST(Disclosure, NamesObjectsOfOtherNamespacesByTheirKind) {
  EXPECT_EQ(nameFor("demo", "GRPCRoute", "demo", "a"), "GRPCRoute demo/a");
  EXPECT_EQ(nameFor("theirs", "GRPCRoute", "demo", "a"), "a GRPCRoute of another namespace");
  EXPECT_EQ(nameFor("theirs", "HTTPRoute", "demo", "a"), "an HTTPRoute of another namespace");
}

TEST(Disclosure, OfRoutesThatHaveAHostnameOrAMatch) {
  const std::string grpc = with(with(kRoute, "HTTPRoute", "GRPCRoute"), "name: route,",
                                "name: hidden, creationTimestamp: '2024-01-01T00:00:00Z',");
  const World conflict = openWorld({grpc, theirRoute()});
  EXPECT_EQ(conflict.condition("HTTPRoute", "mine", "Accepted"), "False/HostnameConflict");
  EXPECT_THAT(
      toldIn(conflict, "theirs"),
      AllOf(HasSubstr(": a GRPCRoute of another namespace has hostnames on listener web, and a hostname serves one "
                      "kind only"),
            Not(HasSubstr("hidden"))));
  const World named = openWorld({with(grpc, "spec:", "spec:\n  hostnames: ['*.hidden.test']"),
                                 with(theirRoute(), "spec:", "spec:\n  hostnames: ['a.hidden.test']")});
  EXPECT_THAT(toldIn(named, "theirs"),
              AllOf(HasSubstr(": a GRPCRoute of another namespace has a hostname that overlaps a.hidden.test on "
                              "listener web"),
                    Not(HasSubstr("*.hidden"))));
  const World shadowed = openWorld({with(kRoute, "name: route,", "name: hidden,"), theirRoute()});
  EXPECT_THAT(toldIn(shadowed, "theirs"),
              AllOf(HasSubstr("the same match of an HTTPRoute of another namespace comes first on listener web"),
                    Not(HasSubstr("hidden"))));
  const World same =
      openWorld({with(kRoute, "name: route,", "name: first,"), with(kRoute, "name: route,", "name: later,")});
  EXPECT_THAT(toldIn(same, "default"), HasSubstr("the same match of HTTPRoute default/first comes first"));
}

TEST(Disclosure, OfGatewaysThatHaveAPortOrAnAddress) {
  const std::string theirs = with(kGateway, "name: egress,", "name: mine, namespace: theirs,");
  const World world = openWorld({theirs});
  EXPECT_THAT(toldIn(world, "theirs"),
              AllOf(HasSubstr("port 80 belongs to a Gateway of another namespace"), Not(HasSubstr("egress"))));
  const World same = openWorld({with(kGateway, "name: egress,", "name: later,")});
  EXPECT_THAT(toldIn(same, "default"), HasSubstr("port 80 belongs to Gateway default/egress"));
  const std::string chosen = with(openGateway(), "addresses: [{type: IPAddress, value: 127.0.0.1}]", "");
  World pool({kClass, chosen, with(theirs, "127.0.0.1", "192.0.2.1")});
  pool.recompileWithPool("192.0.2.1/32", {{"Gateway default/egress", "192.0.2.1"}});
  EXPECT_THAT(toldIn(pool, "theirs"),
              AllOf(HasSubstr("a Gateway of another namespace has it of the address pool"), Not(HasSubstr("egress"))));
}

constexpr const char* kGrantToTheirs = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: hidden, namespace: default}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: theirs}]
  to: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]
)";

TEST(Disclosure, OfBackendsThatCannotBeServed) {
  const std::string route = with(theirRoute(), "name: origin, port", "namespace: default, name: origin, port");
  const std::string closing =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: hidden}\nspec: {targetRefs: "
      "[{group: gateway.networking.k8s.io, kind: Backend, name: origin}]}\n";
  const std::string attached =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: hidden}\nspec: {targetRef: {group: "
      "gateway.networking.k8s.io, kind: Backend, name: origin}, processors: [{name: a, type: 'x.test/Absent:v1', "
      "phase: "
      "request-headers}]}\n";
  const std::string traffic =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: hidden}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: Backend, name: origin}], surprise: 1}\n";
  for (const std::string& each : {closing, attached, traffic}) {
    const World world({kClass, openGateway(), kBackend, route, kGrantToTheirs, each}, nullptr, test::processorTypes());
    EXPECT_EQ(world.outcome(), "500") << each;
    EXPECT_THAT(toldIn(world, "theirs"), AllOf(HasSubstr("Backend default/origin: it is not served ("),
                                               HasSubstr("its own conditions say why"), Not(HasSubstr("hidden"))))
        << each;
  }
  for (const std::string& each : {closing, attached}) {
    const World world({kClass, openGateway(), kBackend, route, kGrantToTheirs, each}, nullptr, test::processorTypes());
    EXPECT_THAT(toldIn(world, "default"), HasSubstr("hidden")) << "its owner is told: " << each;
  }
}

const std::string kHiddenService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: hidden}\nspec: {ports: [{name: web, port: 80}, {name: admin, "
    "port: "
    "8443}]}\n";
const std::string kRefusedEndpoint =
    "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s, labels: {kubernetes.io/service-name: "
    "hidden}}\naddressType: IPv4\nports: [{name: web, port: 80}]\nendpoints: [{addresses: [10.0.0.1]}, {addresses: "
    "[169.254.169.254]}]\n";
const std::string kBackendOfAService =
    "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: origin}\nspec: {destination: {type: Service, "
    "service: {name: hidden}, ports: [{number: 80}]}}\n";

std::string grantToTheirs(const std::string& from, const std::string& to) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: "
         "default}\nspec: {from: [" +
         from + ", namespace: theirs}], to: [" + to + "]}\n";
}
const std::string kTheirRoutes = "{group: gateway.networking.k8s.io, kind: HTTPRoute";
const std::string kAnyService = "{group: '', kind: Service}";

std::string theirRouteTo(const std::string& backend) {
  return with(theirRoute(), "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080", backend);
}

TEST(Disclosure, OfAServiceBehindABackend) {
  const World world({kClass, openGateway(), kHiddenService, kRefusedEndpoint, kBackendOfAService,
                     theirRouteTo("group: sluice.dev, kind: Backend, namespace: default, name: origin, port: 80"),
                     grantToTheirs(kTheirRoutes, "{group: sluice.dev, kind: Backend}")});
  EXPECT_EQ(world.outcome(), "default/origin") << toldIn(world, "theirs");
  EXPECT_THAT(toldIn(world, "theirs"), AllOf(Not(HasSubstr("hidden")), Not(HasSubstr("169.254"))));
}

TEST(Disclosure, OfTheEndpointsOfAService) {
  const std::string permit = grantToTheirs(kTheirRoutes, kAnyService);
  const World direct({kClass, openGateway(), kHiddenService, kRefusedEndpoint, permit,
                      theirRouteTo("namespace: default, name: hidden, port: 80")});
  EXPECT_EQ(direct.outcome(), "default/hidden") << toldIn(direct, "theirs");
  EXPECT_THAT(toldIn(direct, "theirs"), AllOf(HasSubstr("Service default/hidden: some of its endpoints are not used"),
                                              Not(HasSubstr("169.254"))));
  const std::string own = with(with(kBackendOfAService, "name: origin", "name: origin, namespace: theirs"),
                               "service: {name: hidden", "service: {namespace: default, name: hidden");
  const World behind({kClass, openGateway(), kHiddenService, kRefusedEndpoint, own,
                      grantToTheirs("{group: sluice.dev, kind: Backend", kAnyService),
                      theirRouteTo("group: sluice.dev, kind: Backend, name: origin, port: 80")});
  EXPECT_EQ(behind.outcome(), "theirs/origin") << toldIn(behind, "theirs");
  EXPECT_THAT(toldIn(behind, "theirs"),
              AllOf(HasSubstr("some of its endpoints are not used"), Not(HasSubstr("169.254"))));
}

TEST(Disclosure, OfPortsThatAReferenceDoesNotName) {
  const std::string permit = grantToTheirs(kTheirRoutes, kAnyService);
  const World service(
      {kClass, openGateway(), kHiddenService, permit, theirRouteTo("namespace: default, name: hidden, port: 81")});
  EXPECT_THAT(toldIn(service, "theirs"), AllOf(HasSubstr("it has no port 81"), Not(HasSubstr("8443"))));
  const World backend({kClass, openGateway(), kBackend, kGrantToTheirs,
                       with(theirRoute(), "name: origin, port: 8080", "namespace: default, name: origin, port: 81")});
  EXPECT_THAT(toldIn(backend, "theirs"), AllOf(HasSubstr("it has no port 81"), Not(HasSubstr("8080"))));
  const World own({kClass, openGateway(), theirBackend(), with(theirRoute(), "port: 8080", "port: 81")});
  EXPECT_THAT(toldIn(own, "theirs"), HasSubstr("it has no port 81; it has 8080"));
}

TEST(Disclosure, OfTheCatalog) {
  const std::string ofClass = with(
      kClass, "spec: {", "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  const std::string settings =
      test::configMap("settings", "settings.yaml", "processorCatalogs: [{namespace: default, name: catalog}]\n");
  const std::string catalog = test::configMap("catalog", "guard.yaml",
                                              "type: 'acme.test/Guard:v1'\nengine: lua\nphases: "
                                              "[request-headers]\nschemaRef: {namespace: default, name: hidden, "
                                              "key: k}\nlua: {script: x}\n");
  const std::string filter =
      "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [{name: a, type: 'acme.test/Guard:v1', phase: "
      "request-headers}]}], ";
  const World world(
      {ofClass, settings, catalog, openGateway(), theirBackend(), with(theirRoute(), "rules: [{", filter)}, nullptr,
      test::processorTypes());
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_THAT(toldIn(world, "theirs"),
              AllOf(HasSubstr("its entry in the catalog is not valid"), Not(HasSubstr("hidden"))));
}

TEST(Disclosure, OfGrantsThatPermitSomethingElse) {
  const std::string route = with(theirRoute(), "name: origin, port", "namespace: default, name: other, port");
  EXPECT_THAT(toldIn(openWorld({route, kGrantToTheirs}), "theirs"),
              AllOf(HasSubstr("a ReferenceGrant there permits other names: its `to` lacks name: other"),
                    Not(HasSubstr("hidden"))));
}

TEST(Disclosure, OfProcessorsOfAGatewayThatARuleRefuses) {
  const std::string guard =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: hidden}\nspec:\n  targetRef: {kind: "
      "Gateway, name: egress}\n  processors: [{name: t, type: 'sluice.dev/Test:v1', phase: request-headers, config: "
      "{secret: token}}]\n";
  const World world = openWorld({guard, test::secret("token", {{"key", "value"}}), theirRoute()});
  EXPECT_THAT(toldIn(world, "theirs"),
              AllOf(HasSubstr("a payload processor of another namespace cannot run for it (InsecureCredential)"),
                    Not(HasSubstr("hidden")), Not(HasSubstr("token"))));
}

TEST(Disclosure, OfWhatTheSettingsReferTo) {
  const std::string ofClass = with(
      kClass, "spec: {", "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  for (const char* hook : {"Route", "Translation"}) {
    const std::string hooks = test::configMap(
        "settings", "settings.yaml",
        "extensionManager: {hooks: {xdsTranslator: {post: [" + std::string(hook) +
            "]}}, service: {fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: default, name: "
            "hidden}}}}\n");
    const std::string theirs =
        with(with(kGateway, "name: egress,", "name: mine, namespace: theirs,"), "port: 80", "port: 81");
    const World world({ofClass, hooks, openGateway(), theirs, theirBackend(), theirRoute()}, nullptr,
                      test::typesWithServers());
    EXPECT_THAT(toldIn(world, "theirs"), AllOf(HasSubstr("the hook cannot run ("), Not(HasSubstr("hidden")))) << hook;
    EXPECT_THAT(toldIn(world, ""), HasSubstr("hidden")) << "the GatewayClass says why: " << hook;
  }
  const std::string sessions = test::configMap(
      "settings", "settings.yaml", "sessionPersistence: {secretRef: {namespace: default, name: hidden, key: k}}\n");
  const std::string route = with(theirRoute(), "rules: [{", "rules: [{sessionPersistence: {sessionName: s}, ");
  const World world({ofClass, sessions, openGateway(), theirBackend(), route});
  EXPECT_THAT(toldIn(world, "theirs"),
              AllOf(HasSubstr("sessionPersistence.secretRef: a Secret of another namespace: it cannot be used"),
                    Not(HasSubstr("hidden"))));
}

}  // namespace
}  // namespace sluice::compile
