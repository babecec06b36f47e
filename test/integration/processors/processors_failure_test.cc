// Tests payload processors that cannot run: the answer in their place, in every spelling of the failure mode, and the
// conditions that report it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// True opens and false closes; a mode that is not stated closes.
const std::vector<std::pair<std::string, bool>> kFailureSpellings = {
    {"failOpen: true", true},           {"failOpen: false", false},     {"failureMode: FailOpen", true},
    {"failureMode: FailClosed", false}, {"failureMode: open", true},    {"failureMode: closed", false},
    {"failurePolicy: Ignore", true},    {"failurePolicy: Fail", false}, {"timeout: 1s", false}};

/// Returns, for each of these filters, a rule of the path root + "N".
std::string rulesOf(const std::vector<std::string>& filters, const std::string& root = "/") {
  std::string rules;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    rules += "    - matches: [{path: {value: " + root + std::to_string(i) + "}}]\n      filters: [" + filters[i] +
             "]\n" + backendRefs();
  }
  return routeOfRules(rules);
}

std::string processor(const std::string& name, const std::string& section, const std::string& use) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: " +
         section + "}\n  processors: [" + use + "]\n";
}

class ProcessorFailures : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& routes, const std::string& extensions = {}) const {
    return {.backends = {{.port = origin_.port(), .extensions = extensions}}, .routes = routes};
  }
  static void expectAnswer(std::uint16_t port, const std::string& target, bool open, const std::string& code,
                           const std::string& what) {
    const std::string answer = run({"curl", "-sS", "-i", "http://127.0.0.1:" + std::to_string(port) + target}).output;
    EXPECT_THAT(answer, HasSubstr(open ? "HTTP/1.1 200 " : "HTTP/1.1 500 ")) << what;
    EXPECT_THAT(answer, HasSubstr(open ? "\r\n\r\nok" : "\"code\":\"" + code + "\"")) << what;
  }

  RawOrigin origin_{RawOrigin::answering(kOk)};
};

/// Returns the filters of a use that cannot run, in every form that a use has, with this failure mode.
std::vector<std::string> formsOf(const std::string& spelling) {
  const std::string mode = ", " + spelling;
  const std::string remote = "{name: a, backendRefs: [{kind: Service, name: s, port: 80}]";
  return {inlined("{name: a, type: 'acme.test/Absent:v1', phase: request-headers" + mode + "}"),
          inlined(remote + mode + "}"), inlined(remote + ", config: {context: {k: v}" + mode + "}}"),
          inlined("{name: a, type: ExtProcess, extProcess: {backendRef: {name: s, port: 80}}" + mode + "}"),
          inlined("{name: a, type: InProcess, inProcess: {request: {setHeaders: [{name: x, value: nobody.knows}]}}" +
                  mode + "}")};
}

TEST_F(ProcessorFailures, OpenOrCloseRulesInEverySpellingAndForm) {
  std::string routes;
  for (std::size_t i = 0; i < kFailureSpellings.size(); ++i) {
    std::string route = rulesOf(formsOf(kFailureSpellings[i].first), "/" + std::to_string(i) + "/");
    routes += (i == 0 ? "" : "---\n") + route.replace(route.find("name: all"), 9, "name: r" + std::to_string(i));
  }
  const GatewayProcess gateway(specOf(routes));
  for (std::size_t i = 0; i < kFailureSpellings.size(); ++i) {
    const auto forms = formsOf(kFailureSpellings[i].first);
    for (std::size_t j = 0; j < forms.size(); ++j) {
      const std::string target = "/" + std::to_string(i) + "/" + std::to_string(j);
      expectAnswer(gateway.port(), target, kFailureSpellings[i].second, "proxy_configuration_error", forms[j]);
    }
  }
}

TEST_F(ProcessorFailures, OpenOrCloseListenersInEverySpelling) {
  std::string listeners;
  std::string processors;
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < kFailureSpellings.size(); ++i) {
    const std::string name = "l" + std::to_string(i);
    ports.push_back(freePort());
    listeners += "    - {name: " + name + ", protocol: HTTP, port: " + std::to_string(ports[i]) + "}\n";
    processors +=
        processor(name, name,
                  "{name: a, type: 'acme.test/Absent:v1', phase: request-headers, " + kFailureSpellings[i].first + "}");
  }
  GatewaySpec spec = specOf(routeOfRules("    -\n" + backendRefs()) + processors);
  spec.listeners = listeners;
  const GatewayProcess gateway(spec);
  for (std::size_t i = 0; i < kFailureSpellings.size(); ++i) {
    expectAnswer(ports[i], "/", kFailureSpellings[i].second, "processor_failed", kFailureSpellings[i].first);
  }
  EXPECT_EQ(statusOf(gateway, "/"), "200") << "another listener has nothing to do with them";
}

/// This is the egress proposal's example, but for the port.
constexpr const char* kFailureExample = R"(---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata:
  name: no-pii-openai
spec:
  destination:
    type: FQDN
    fqdn: {hostname: api.openai.com, port: 443}
  tls:
    mode: Mutual
    sni: api.openai.com
    clientCertificateRef: {name: client-cert}
  extensions:
    - name: pii-detector
      type: acme.example.com/PIIDetector:v1
      phase: request-body
      priority: 20
      failOpen: false
      preAuth: true
      config:
        modelRef: pii-detect-small
        redactionStyle: delete
        confidenceThreshold: 0.7
        maxBodyBytes: 2097152
)";

TEST_F(ProcessorFailures, AffectOnlyTheirBackendInTheProposalsExample) {
  const CertifiedKey client = issueClient(makeAuthority(), "tenant");
  const std::string secret = tlsSecretOf("client-cert", client, "default");
  const std::string grant =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\n"
      "metadata: {namespace: default, name: routes}\nspec:\n"
      "  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: test}]\n"
      "  to: [{group: gateway.networking.k8s.io, kind: Backend}]\n";
  const GatewayProcess gateway(
      specOf(routeOfRules("    -\n" + backendRefs() + "    - matches: [{path: {value: /pii}}]\n      backendRefs: [" +
                          backendRef("no-pii-openai", ", namespace: default") + "]\n") +
             grant + kFailureExample + secret));
  expectAnswer(gateway.port(), "/pii", false, "proxy_configuration_error", "closed");
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  EXPECT_EQ(run({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}",
                 "http://127.0.0.1:" + std::to_string(gateway.healthPort()) + "/readyz"})
                .output,
            "200");
  const std::string status = gateway.adminGet("/status");
  EXPECT_THAT(status, HasSubstr("{\"type\":\"Degraded\",\"status\":\"True\",\"reason\":\"UnsupportedExtensionType\""));
}

/// Returns a type whose uses `schema` admits or not, and a route that such a use closes.
GatewaySpec withSchema(std::uint16_t origin, const std::string& schema) {
  return {
      .backends = {{.port = origin}},
      .settings = "processorCatalogs: [{namespace: test, name: types}]",
      .routes = rulesOf({inlined("{name: a, type: 'acme.test/Made:v1', phase: request-headers, config: {a: {a: {}}}}"),
                         "{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x]}}"}) +
                configMapOf("types", {{"made.yaml",
                                       entryOf("acme.test/Made:v1", "lua", "request-headers", "lua: {script: x}\n")}}) +
                configMapOf("schema", {{"schema.json", schema}})};
}

TEST_F(ProcessorFailures, SchemasReachNothingOutsideOfThem) {
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  ASSERT_TRUE(canary.ok());
  const std::string at = "http://127.0.0.1:" + std::to_string(port) + "/schema.json";
  for (const std::string& schema :
       {R"({"$ref": ")" + at + "\"}", R"({"$id": ")" + at + R"(", "$ref": "other.json"})",
        R"({"$schema": ")" + at + R"(", "type": "object"})", R"({"properties": {"a": {"$dynamicRef": ")" + at + "\"}}}",
        std::string(R"({"$ref": "file:///etc/passwd"})")}) {
    const GatewayProcess gateway(withSchema(origin_.port(), schema));
    expectAnswer(gateway.port(), "/0", false, "proxy_configuration_error", schema);
    EXPECT_EQ(statusOf(gateway, "/1"), "200") << schema;
    const std::string status = gateway.adminGet("/status");
    EXPECT_THAT(status, HasSubstr("schemaRef: ConfigMap test/schema, schema.json: ")) << schema;
    EXPECT_EQ(countOf(status, "root:"), 0U);
  }
  EXPECT_EQ(canary.connections(), 0);
}

TEST_F(ProcessorFailures, SchemasThatAreHugeOrNeverEndCostNoMoreThanOthers) {
  std::string many = R"({"enum": [0)";
  for (int i = 1; i < 30'000; ++i) many += "," + std::to_string(i);
  const std::string tower = std::string(25, '[') + std::string(25, ']');
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += R"({"not":)";
  deep += "true" + std::string(20'000, '}');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"$ref": "#"})", "refers to itself"},
      {R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})",
       "refers to itself"},
      {R"({"properties": {"a": {"$ref": "#"}}})", "processor.lua:1: syntax error near"},  // a schema like any other
      {R"({"properties": {"a": {"type": "string", "default": 1}}})", "/properties/a/default: as a default, must be"},
      {R"({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "default": )" + tower + "}",
       "the check needs more than 1000000 steps"},
      {many + "]}", "has more than 20000 values"},
      {deep, "nesting exceeds"}};
  for (const auto& [schema, complaint] : cases) {
    const GatewayProcess gateway(withSchema(origin_.port(), schema));
    expectAnswer(gateway.port(), "/0", false, "proxy_configuration_error", complaint);
    EXPECT_EQ(statusOf(gateway, "/1"), "200") << complaint;
    EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(complaint));
  }
}

}  // namespace
}  // namespace sluice::test
