// Tests that egress and payload processing work one without the other: processors before Services where there is no
// Backend at all, Backends where there is no processor at all, and faults of either that leave the other one alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kToShopService = "      backendRefs: [{name: shop, port: 80}]\n";
constexpr const char* kCatalogSettings = "processorCatalogs: [{namespace: test, name: types}]\n";

/// Returns a catalog with a script that changes head and body of a request, and the head of its response.
std::string catalogOfMarks() {
  return configMapOf("types", {{"mark.yaml", entryOf("acme.test/Mark:v1", "lua", "request-body, response-headers",
                                                     "lua:\n" + blockOf("script", R"(function request_body(m)
  m.headers:set("x-lua", m.config.by)
  m.body:replace(m.body:text():upper())
end
function response_headers(m) m.headers:set("x-answered", m.config.by) end)",
                                                                        "  "))}}) +
         configMapOf("schema", {{"schema.json", R"({"type": "object"})"}});
}

std::string scripted(const std::string& by) {
  return "{name: lua, type: 'acme.test/Mark:v1', config: {by: " + by + "}}";
}

std::string processorOn(const std::string& target, const std::string& use) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: marks}\n"
         "spec: {targetRef: {group: gateway.networking.k8s.io, " +
         target + "}, processors: [" + use + "]}\n";
}

class Separable : public testing::Test {
 protected:
  static GatewaySpec specOf(const std::string& routes, const std::string& settings) {
    GatewaySpec spec;
    spec.settings = settings;
    spec.routes = routes;
    return spec;
  }
  std::string shop() const { return serviceOf("shop", origin_.port()); }
  static std::string post(const GatewayProcess& gateway, const std::string& target = "/") {
    return ask(gateway, target, {"--data-binary", "hello"});
  }

  RecordingOrigin origin_{[](std::size_t) { return saying("fine"); }};
};

TEST_F(Separable, ProcessorsRunBeforeAServiceWhereThereIsNoBackend) {
  const std::string pipeline =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: test, name: line}\n"
      "spec: {processors: [" +
      scripted("pipeline") + "]}\n";
  const std::string ref =
      "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: line}}";
  const auto withFilter = [&](const std::string& filter) {
    return routeOfRules("    - filters: [" + filter + "]\n" + kToShopService);
  };
  const std::string plain = routeOfRules(std::string("    -\n") + kToShopService);
  const std::string ofWeight =
      routeOfRules("    - backendRefs: [{name: shop, port: 80, filters: [" + inlined(scripted("weight")) + "]}]\n");
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"inline", withFilter(inlined(scripted("inline")))},
      {"pipeline", withFilter(ref) + pipeline},
      {"weight", ofWeight},
      {"route", plain + processorOn("kind: HTTPRoute, name: all", scripted("route"))},
      {"gateway", plain + processorOn("kind: Gateway, name: egress", scripted("gateway"))},
      {"listener", plain + processorOn("kind: Gateway, name: egress, sectionName: http", scripted("listener"))}};
  for (const auto& [name, routes] : ways) {
    SCOPED_TRACE(name);
    const GatewayProcess gateway(specOf(routes + catalogOfMarks() + shop(), kCatalogSettings));
    EXPECT_THAT(post(gateway),
                AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("x-answered: " + name), HasSubstr("\r\n\r\nfine")));
    ASSERT_FALSE(origin_.heads().empty());
    EXPECT_THAT(origin_.heads().back(), HasSubstr("x-lua: " + name));
    EXPECT_EQ(origin_.bodies().back(), "HELLO");
    EXPECT_THAT(gateway.adminGet("/status"), AllOf(Not(HasSubstr("\"Degraded\"")), HasSubstr("\"problems\":[]")));
  }
}

TEST_F(Separable, BackendsServeWhereThereIsNoProcessorAndNoCatalog) {
  const GatewayProcess gateway(towards(origin_));
  EXPECT_THAT(post(gateway), AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("\r\n\r\nfine")));
  EXPECT_EQ(origin_.bodies().back(), "hello");
  EXPECT_THAT(gateway.metrics(), Not(HasSubstr("sluice_processor_duration_seconds_count{")));
  EXPECT_THAT(gateway.adminGet("/status"), AllOf(Not(HasSubstr("\"Degraded\"")), HasSubstr("\"problems\":[]")));
}

TEST_F(Separable, AFaultOfOneLeavesTheOtherAlone) {
  const std::string rules =
      routeOfRules("    - matches: [{path: {value: /shop}}]\n      filters: [" + inlined(scripted("shop")) + "]\n" +
                   kToShopService + "    - matches: [{path: {value: /egress}}]\n" + backendRefs());
  const auto spec = [&](const std::string& objects, const std::string& extensions) {
    GatewaySpec made = specOf(rules + shop() + objects, kCatalogSettings);
    made.backends = {{.port = origin_.port(), .extensions = extensions}};
    return made;
  };
  const auto statuses = [&](const GatewayProcess& gateway) {
    return statusOf(gateway, "/shop", {"--data-binary", "x"}) + " " + statusOf(gateway, "/egress");
  };
  GatewayProcess gateway(spec(catalogOfMarks(), ""));
  EXPECT_EQ(statuses(gateway), "200 200");
  gateway.reload(spec("", ""));
  EXPECT_EQ(statuses(gateway), "500 200") << "there is no catalog";
  EXPECT_TRUE(gateway.isReady());
  gateway.reload(spec(catalogOfMarks(), "[{name: absent, type: 'acme.test/Absent:v1', phase: request-headers}]"));
  EXPECT_EQ(statuses(gateway), "200 500") << "the Backend has a processor that there is not";
  GatewaySpec broken = spec(catalogOfMarks(), "");
  broken.backends[0].ca = "this is no certificate\n";
  gateway.reload(broken);
  EXPECT_EQ(statuses(gateway), "200 500") << "the Backend cannot speak TLS";
  EXPECT_TRUE(gateway.isReady());
  gateway.reload(spec(catalogOfMarks(), ""));
  EXPECT_EQ(statuses(gateway), "200 200");
}

}  // namespace
}  // namespace sluice::test
