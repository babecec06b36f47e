// Tests which weighted backends set the field by which Linkerd learns the Service of a request.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::World;

constexpr std::string_view kMeshedService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{name: web, port: 8081}]}\n";
constexpr const char* kMeshedField = "l5d-dst-override";
constexpr const char* kMeshedValue = "shop.default.svc.cluster.local:8081";

std::string meshPolicy(const std::string& name, const std::string& target, bool adds) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name + "}\nspec: {targetRefs: [{" +
         target + "}], integrations: {addLinkerdHeaders: " + (adds ? "true" : "false") + "}}\n";
}
const std::string kMeshOfGateway = "group: gateway.networking.k8s.io, kind: Gateway, name: egress";
const std::string kMeshOfRoute = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: route";
const std::string kMeshOfService = "group: '', kind: Service, name: shop";

/// A rule with two backendRefs: a Service with these filters, and a Backend that leads to no Service.
World meshWorld(const std::vector<std::string>& policies, const std::string& filters = {}) {
  const std::string route =
      routeWithRules("rules: [{backendRefs: [{name: shop, port: 8081" + filters +
                     "}, {group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, kMeshedService, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}

const routing::WeightedBackend& weightedOf(const World& world, std::size_t index) {
  return world.rule(test::RequestMaker("GET", "a.test", "/"))->backends.at(index);
}

/// Returns the values that the Service gets if the client sends a value of its own; joined by ",".
std::string sentTo(const World& world, std::size_t index = 0) {
  test::RequestMaker request("GET", "a.test", "/", {{kMeshedField, "client"}, {"l5d_dst_override", "twin"}});
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers = request.head().headers.copy(arena);
  const auto& edit = weightedOf(world, index).requestHeaders;
  if (edit) edit->apply(arena, headers);
  std::string values;
  for (const http::Field& field : headers) values += (values.empty() ? "" : ",") + std::string(field.value);
  return values;
}

TEST(LinkerdHeaders, NameTheServiceOfTheRequest) {
  EXPECT_EQ(sentTo(meshWorld({})), "client,twin") << "as the client sent it";
  for (const std::string& target : {kMeshOfGateway, kMeshOfRoute, kMeshOfService}) {
    const World world = meshWorld({meshPolicy("p", target, true)});
    EXPECT_EQ(sentTo(world), kMeshedValue) << target;
    EXPECT_EQ(sentTo(world, 1), "client,twin") << "no Service: " << target;
  }
}

TEST(LinkerdHeaders, AreThoseOfTheMostSpecificPolicy) {
  EXPECT_EQ(sentTo(meshWorld({meshPolicy("g", kMeshOfGateway, true), meshPolicy("r", kMeshOfRoute, false)})),
            "client,twin");
  EXPECT_EQ(sentTo(meshWorld({meshPolicy("g", kMeshOfGateway, false), meshPolicy("s", kMeshOfService, true)})),
            kMeshedValue);
  EXPECT_EQ(sentTo(meshWorld({meshPolicy("s", kMeshOfService, false), meshPolicy("r", kMeshOfRoute, true)})),
            kMeshedValue);
}

TEST(LinkerdHeaders, ComeBeforeWhatFiltersDoWithTheField) {
  const std::string filters =
      ", filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: l5d-dst-override, value: f}]}}]";
  const std::string removing =
      ", filters: [{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: L5d-Dst-Override, value: f}], "
      "remove: [l5d-dst-override]}}]";
  for (const std::string& each : {filters, removing}) {
    EXPECT_EQ(sentTo(meshWorld({meshPolicy("p", kMeshOfRoute, true)}, each)), kMeshedValue) << each;
  }
}

TEST(LinkerdHeaders, AreSetThroughABackendThatLeadsToAService) {
  const std::string backend =
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: leading}\nspec: {destination: {type: "
      "KubernetesService, service: {name: shop}, ports: [{number: 8081, protocol: HTTP}]}}\n";
  const std::string route =
      routeWithRules("rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: leading, port: 8081}]}]");
  const std::string policy = meshPolicy("p", "group: sluice.dev, kind: Backend, name: leading", true);
  const World world({kClass, kGateway, kMeshedService, backend, route, policy});
  EXPECT_EQ(sentTo(world), kMeshedValue);
  EXPECT_EQ(world.message("TrafficPolicy", "p", "Accepted").find("has no effect"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
