#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadGateway(const std::string& spec) {
  return loadText(object("gateway.networking.k8s.io/v1", "Gateway", "g", "spec:\n" + spec));
}

std::vector<std::string> problemsOfGateway(const std::string& spec) { return rendered(loadGateway(spec).problems); }

std::vector<std::string> problemsOfListener(const std::string& listener) {
  return problemsOfGateway("  gatewayClassName: c\n  listeners:\n  - " + listener + "\n");
}

TEST(Gateway, FillsInTheDefaultsOfTheApi) {
  const Configuration configuration = loadGateway(
      "  gatewayClassName: c\n  addresses: [{value: 127.0.0.1}, {value: '::1'}]\n  listeners:\n"
      "  - {name: a, protocol: HTTP, port: 80, hostname: '*.example.com'}\n"
      "  - {name: b, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: s}]},\n"
      "     allowedRoutes: {namespaces: {from: All}, kinds: [{kind: HTTPRoute}]}}\n"
      "  - {name: c, protocol: TLS, port: 444, tls: {mode: Passthrough}}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Gateway& gateway = configuration.model.all<Gateway>().at(0);
  EXPECT_EQ(gateway.addresses.at(0).type, "IPAddress");
  ASSERT_EQ(gateway.listeners.size(), 3u);
  EXPECT_EQ(gateway.listeners[0].protocol, ListenerProtocol::kHttp);
  EXPECT_EQ(gateway.listeners[0].routeNamespaces, RouteNamespaces::kSame);
  EXPECT_EQ(gateway.listeners[0].routeKinds, std::nullopt);
  EXPECT_EQ(gateway.listeners[0].path, "spec.listeners[0]");
  const ObjectRef& secret = gateway.listeners[1].tls->certificateRefs.at(0);
  EXPECT_EQ(secret.kind, "Secret");
  EXPECT_EQ(secret.group, "");
  EXPECT_EQ(secret.path, "spec.listeners[1].tls.certificateRefs[0]");
  EXPECT_EQ(gateway.listeners[1].routeNamespaces, RouteNamespaces::kAll);
  EXPECT_THAT(*gateway.listeners[1].routeKinds, ElementsAre(RouteKind{std::string(kGatewayGroup), "HTTPRoute"}));
  EXPECT_EQ(gateway.listeners[2].protocol, ListenerProtocol::kOther);
  EXPECT_EQ(gateway.listeners[2].protocolName, "TLS");
}

TEST(Gateway, NamesFileLineAndFieldOfAMisspeltField) {
  EXPECT_THAT(
      problemsOfListener("{name: a, protocol: HTTP, port: 80, hostnam: x}"),
      ElementsAre("config.yaml:7:41: error: Gateway default/g: spec.listeners[0].hostnam: unknown field: did you mean "
                  "hostname?"));
}

TEST(Gateway, RequiresTheFieldsThatTheSchemaRequires) {
  EXPECT_THAT(problemsOfGateway("  {}\n"),
              ElementsAre(EndsWith("spec.gatewayClassName: is required"), EndsWith("spec.listeners: is required")));
  EXPECT_THAT(problemsOfGateway("  gatewayClassName: c\n  listeners: []\n"),
              ElementsAre(EndsWith("spec.listeners: must have at least one item")));
  EXPECT_THAT(problemsOfListener("{}"),
              ElementsAre(EndsWith("[0].name: is required"), EndsWith("[0].port: is required"),
                          EndsWith("[0].protocol: is required")));
  EXPECT_THAT(problemsOfListener("~"), ::testing::Contains(HasSubstr("must be a map, but is null")));
}

TEST(Gateway, ChecksTypesRangesAndPatterns) {
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: '80'}"),
              ElementsAre(EndsWith("port: must be a number, but is a string: leave the quotes out")));
  EXPECT_THAT(problemsOfListener("{name: 1, protocol: HTTP, port: 80}"),
              ElementsAre(EndsWith("name: must be a string, but is a number: put it in quotes")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 0}"),
              ElementsAre(EndsWith("port: must be between 1 and 65535, but is 0")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 65536}"),
              ElementsAre(EndsWith("port: must be between 1 and 65535, but is 65536")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 80.5}"), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 0080}"), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 65535}"), IsEmpty());
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 80, hostname: 1.2.3.4}"),
              ElementsAre(HasSubstr("hostname: must be a hostname")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: Some}}}"),
              ElementsAre(EndsWith("from: must be Same, All or Selector, but is \"Some\"")));
}

TEST(Gateway, ChecksTlsAgainstTheProtocol) {
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTP, port: 80, tls: {certificateRefs: [{name: s}]}}"),
              ElementsAre(EndsWith("tls: must not be given for protocol HTTP")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTPS, port: 80, tls: {mode: Passthrough}}"),
              ElementsAre(EndsWith("tls: mode must be Terminate for protocol HTTPS")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: HTTPS, port: 80, tls: {}}"),
              ElementsAre(EndsWith("certificateRefs: is required when mode is Terminate")));
  EXPECT_THAT(problemsOfListener("{name: a, protocol: TCP, port: 80, hostname: x.y}"),
              ElementsAre(EndsWith("hostname: must not be given for protocol TCP")));
}

TEST(Gateway, RefusesListenersThatRepeatEachOther) {
  const std::string head = "{name: a, protocol: HTTP, port: 80}\n  - ";
  EXPECT_THAT(problemsOfListener(head + "{name: a, protocol: HTTP, port: 81}"),
              ElementsAre(EndsWith("spec.listeners[1].name: repeats the name of spec.listeners[0]")));
  EXPECT_THAT(problemsOfListener(head + "{name: b, protocol: HTTP, port: 80}"),
              ElementsAre(EndsWith("spec.listeners[1]: repeats port, protocol and hostname of spec.listeners[0]")));
  EXPECT_THAT(problemsOfListener(head + "{name: b, protocol: HTTP, port: 80, hostname: x.y}"), IsEmpty());
}

TEST(Gateway, AcceptsAtMostSixtyFourListeners) {
  const auto listeners = [](int count) {
    std::string text = "  gatewayClassName: c\n  listeners:\n";
    for (int i = 0; i < count; ++i) {
      text += "  - {name: l" + std::to_string(i) + ", protocol: HTTP, port: " + std::to_string(8000 + i) + "}\n";
    }
    return text;
  };
  EXPECT_THAT(problemsOfGateway(listeners(64)), IsEmpty());
  EXPECT_THAT(problemsOfGateway(listeners(65)), ::testing::Contains(HasSubstr("has 65 items; at most 64 are allowed")));
}

TEST(Gateway, ChecksAddresses) {
  const std::string rest = "  gatewayClassName: c\n  listeners: [{name: a, protocol: HTTP, port: 80}]\n";
  EXPECT_THAT(problemsOfGateway(rest + "  addresses: [{value: 127.0.0.300}]\n"),
              ElementsAre(HasSubstr("must be an IP address")));
  EXPECT_THAT(problemsOfGateway(rest + "  addresses: [{value: 127.0.0.1}, {value: 127.0.0.1}]\n"),
              ElementsAre(HasSubstr("repeats")));
  EXPECT_THAT(problemsOfGateway(rest + "  addresses: [{type: Hostname, value: x.y}, {type: IPAddress}]\n"), IsEmpty());
}

TEST(Gateway, RemembersUnsupportedFields) {
  const Configuration configuration = loadGateway(
      "  gatewayClassName: c\n  defaultScope: All\n  tls: {backend: {}}\n  listeners:\n"
      "  - {name: a, protocol: HTTPS, port: 443, tls: {options: {a: b}}}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Gateway& gateway = configuration.model.all<Gateway>().at(0);
  ASSERT_EQ(gateway.unsupported.size(), 2u);
  EXPECT_EQ(gateway.unsupported[0].path, "spec.defaultScope");
  EXPECT_FALSE(gateway.unsupported[0].altersTraffic);
  EXPECT_EQ(gateway.unsupported[1].path, "spec.tls.backend");
  EXPECT_TRUE(gateway.unsupported[1].altersTraffic);
  ASSERT_EQ(gateway.listeners[0].unsupported.size(), 1u);
  EXPECT_EQ(gateway.listeners[0].unsupported[0].path, "spec.listeners[0].tls.options");
}

TEST(Gateway, ReadsItsInfrastructure) {
  const std::string rest = "  gatewayClassName: c\n  listeners: [{name: a, protocol: HTTP, port: 80}]\n";
  const Configuration configuration = loadGateway(
      rest +
      "  infrastructure: {labels: {a: b}, annotations: {c/d: e}, parametersRef: {group: '', kind: ConfigMap, "
      "name: x}}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Infrastructure& infrastructure = configuration.model.all<Gateway>().at(0).infrastructure;
  EXPECT_EQ(infrastructure.labels.at("a"), "b");
  EXPECT_EQ(infrastructure.annotations.at("c/d"), "e");
  ASSERT_TRUE(infrastructure.parametersRef);
  EXPECT_EQ(infrastructure.parametersRef->name, "x");
  std::string labels;
  for (int i = 0; i < 8; ++i) labels += "l" + std::to_string(i) + ": x, ";
  EXPECT_THAT(problemsOfGateway(rest + "  infrastructure: {labels: {" + labels + "}}\n"), IsEmpty());
  EXPECT_THAT(problemsOfGateway(rest + "  infrastructure: {labels: {" + labels + "one: more}}\n"),
              ElementsAre(HasSubstr("labels: must have at most 8 items")));
  EXPECT_THAT(problemsOfGateway(rest + "  infrastructure: {parametersRef: {name: x}}\n"),
              ElementsAre(HasSubstr("group: is required"), HasSubstr("kind: is required")));
}

TEST(Gateway, WarnsOfARolloutThatNobodyKnows) {
  const auto problems = [](const std::string& rollout) {
    return rendered(
        loadText("apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, annotations: "
                 "{sluice.dev/rollout: " +
                 rollout + "}}\nspec: {gatewayClassName: c, listeners: [{name: a, protocol: HTTP, port: 80}]}\n")
            .problems);
  };
  EXPECT_THAT(problems("Canary"), IsEmpty());
  EXPECT_THAT(problems("canary"),
              ElementsAre(AllOf(HasSubstr("warning: Gateway default/g: metadata.annotations[sluice.dev/rollout]: "),
                                HasSubstr("must be Canary"))));
}

TEST(RejectedGateway, KeepsItsLegibleListeners) {
  const Configuration configuration = loadGateway(
      "  gatewayClassName: c\n  listeners:\n  - {name: a, protocol: HTTP, port: 80}\n  - {name: b, protocol: HTTP, "
      "port: 81, hostnam: x}\n");
  EXPECT_TRUE(configuration.model.all<Gateway>().empty());
  const Rejected* rejected = configuration.model.findRejected(kGatewayGroup, "Gateway", "default", "g");
  ASSERT_NE(rejected, nullptr);
  ASSERT_NE(rejected->legible<Gateway>(), nullptr);
  ASSERT_EQ(rejected->legible<Gateway>()->listeners.size(), 1u);
  EXPECT_EQ(rejected->legible<Gateway>()->listeners[0].name, "a");
}

TEST(RejectedGateway, IsNotBoundIfItsAddressesAreNotLegible) {
  const std::string rest = "  gatewayClassName: c\n  listeners: [{name: a, protocol: HTTP, port: 80}]\n";
  EXPECT_EQ(loadGateway(rest + "  adresses: [{value: 127.0.0.1}]\n").model.rejected.at(0).legible<Gateway>(), nullptr);
  EXPECT_EQ(loadGateway(rest + "  addresses: [{value: localhost}]\n").model.rejected.at(0).legible<Gateway>(), nullptr);
}

TEST(GatewayClass, NeedsAControllerNameAndACompleteReference) {
  const auto problems = [](const std::string& spec) {
    return rendered(
        loadText(object("gateway.networking.k8s.io/v1", "GatewayClass", "c", "spec: " + spec + "\n")).problems);
  };
  EXPECT_THAT(problems("{controllerName: example.com/other}"), IsEmpty());
  EXPECT_THAT(problems("{}"), ElementsAre(EndsWith("spec.controllerName: is required")));
  EXPECT_THAT(problems("{controllerName: nodomain}"), ElementsAre(HasSubstr("must be a controller name")));
  EXPECT_THAT(problems("{controllerName: a.b/c, parametersRef: {name: x}}"),
              ElementsAre(EndsWith("parametersRef.group: is required"), EndsWith("parametersRef.kind: is required")));
}

}  // namespace
}  // namespace sluice::config
