// Tests Services as backends: the endpoints of a port, and the route's status if a Service cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::firstPlan;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: shop, uid: 4f5e, ownerReferences: []}
spec:
  type: ClusterIP
  clusterIP: 10.96.0.7
  selector: {app: shop}
  sessionAffinity: None
  ports:
  - {name: web, port: 80, targetPort: http, protocol: TCP, nodePort: 30080}
  - {name: admin, port: 81, targetPort: 9000}
status: {loadBalancer: {}}
)";

constexpr std::string_view kSlice = R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shop-1, labels: {kubernetes.io/service-name: shop}}
addressType: IPv4
ports:
- {name: web, port: 8080, protocol: TCP}
- {name: admin, port: 9000}
endpoints:
- {addresses: [10.0.0.1], conditions: {ready: true, serving: true, terminating: false}, nodeName: a, zone: z}
- {addresses: [10.0.0.2, 10.0.0.99], conditions: {}, targetRef: {kind: Pod, name: p}}
- {addresses: [10.0.0.3], conditions: {ready: false, serving: true, terminating: true}}
)";

std::string routeToService(std::string_view backend = "name: shop, port: 80") {
  return with(kRoute, "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080", backend);
}

World worldOfServices(const std::vector<std::string>& documents, const std::string& route = routeToService()) {
  std::vector<std::string_view> all = {kClass, kGateway, route};
  all.insert(all.end(), documents.begin(), documents.end());
  return World(all);
}
World shop(const std::string& service, const std::string& slice = std::string(kSlice)) {
  return worldOfServices({service, slice});
}
World shop() { return shop(std::string(kService)); }

std::vector<std::string> endpoints(const World& world) {
  std::vector<std::string> texts;
  for (const routing::Endpoint& each : *firstPlan(world).endpoints)
    texts.push_back(each.ip + " " + std::to_string(each.port));
  return texts;
}
std::string resolution(const World& world) { return world.condition("HTTPRoute", "route", "ResolvedRefs"); }
std::string why(const World& world) { return world.message("HTTPRoute", "route", "ResolvedRefs"); }
std::string note(const World& world) { return world.message("HTTPRoute", "route", "Accepted"); }

TEST(CompileService, UsesTheReadyEndpointsOfItsSlices) {
  const World world = shop();
  EXPECT_EQ(world.outcome(), "default/shop");
  EXPECT_THAT(endpoints(world), ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
  EXPECT_EQ(resolution(world), "True/ResolvedRefs");
  EXPECT_EQ(firstPlan(world).protocol, routing::UpstreamProtocol::kAuto);
  EXPECT_EQ(firstPlan(world).authority, "shop.default.svc");
  EXPECT_FALSE(firstPlan(world).tls);
}

TEST(CompileService, UsesTerminatingEndpointsThatServeIfNoneIsReady) {
  std::string slice = with(kSlice, "{ready: true, serving: true, terminating: false}", "{ready: false}");
  EXPECT_THAT(endpoints(shop(std::string(kService), slice)), ElementsAre("10.0.0.2 8080"));
  slice = with(slice, "conditions: {}", "conditions: {ready: false, serving: false, terminating: true}");
  EXPECT_THAT(endpoints(shop(std::string(kService), slice)), ElementsAre("10.0.0.3 8080"));
  const std::string ready = with(with(with(kSlice, "shop-1", "shop-2"), "[10.0.0.1]", "['fd00::1']"), "IPv4", "IPv6");
  const std::string other = ready.substr(0, ready.find("- {addresses: [10.0.0.2"));
  EXPECT_THAT(endpoints(worldOfServices({std::string(kService), slice, other})), ElementsAre("fd00::1 8080"))
      << "one of another slice and family";
}

TEST(CompileService, UsesTheSlicesPortWithTheNameOfTheServicesPort) {
  EXPECT_THAT(
      endpoints(worldOfServices({std::string(kService), std::string(kSlice)}, routeToService("name: shop, port: 81"))),
      ElementsAre("10.0.0.1 9000", "10.0.0.2 9000"));
  const std::string unnamed =
      with(with(kService, "name: web, port: 80", "port: 80"), "  - {name: admin, port: 81, targetPort: 9000}\n", "");
  EXPECT_THAT(endpoints(shop(unnamed)), IsEmpty());
  EXPECT_THAT(endpoints(shop(unnamed, with(kSlice, "name: web, port: 8080", "name: '', port: 8080"))),
              ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
}

TEST(CompileService, UsesItsTargetPortIfTheSliceHasNoNumber) {
  const std::string slice = with(kSlice, "name: admin, port: 9000", "name: admin");
  EXPECT_THAT(endpoints(worldOfServices({std::string(kService), slice}, routeToService("name: shop, port: 81"))),
              ElementsAre("10.0.0.1 9000", "10.0.0.2 9000"));
}

TEST(CompileService, JoinsItsSlicesWithoutDuplicateEndpoints) {
  const std::string more = with(with(kSlice, "shop-1", "shop-2"), "[10.0.0.1]", "[10.0.0.7]");
  EXPECT_THAT(endpoints(worldOfServices({more, std::string(kService), std::string(kSlice)})),
              ElementsAre("10.0.0.1 8080", "10.0.0.2 8080", "10.0.0.7 8080"));
}

TEST(CompileService, KnowsTheZonesOfItsEndpoints) {
  const World world = shop(std::string(kService), with(kSlice, "targetRef: {kind: Pod, name: p}",
                                                       "hints: {forZones: [{name: y}, {name: z}]}"));
  EXPECT_THAT(firstPlan(world).zones, ElementsAre(base::EndpointZones{"z", {}}, base::EndpointZones{"", {"y", "z"}}));
}

TEST(CompileService, TakesTheZonesOfTheFirstSliceThatHasAnEndpoint) {
  const std::string more = with(with(kSlice, "shop-1", "shop-2"), "zone: z", "zone: y");
  const World world = worldOfServices({std::string(kService), std::string(kSlice), more});
  EXPECT_THAT(endpoints(world), ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
  EXPECT_THAT(firstPlan(world).zones, ElementsAre(base::EndpointZones{"z", {}}, base::EndpointZones()));
}

TEST(CompileService, IgnoresSlicesOfOtherServices) {
  const std::string other = with(kSlice, "service-name: shop", "service-name: other");
  const std::string elsewhere = with(kSlice, "name: shop-1", "name: shop-1, namespace: elsewhere");
  const std::string udp = with(kSlice, "port: 8080, protocol: TCP", "port: 8080, protocol: UDP");
  for (const std::string& slice : {other, elsewhere, udp}) {
    EXPECT_THAT(endpoints(shop(std::string(kService), slice)), IsEmpty()) << slice;
  }
}

TEST(CompileService, IsResolvedEvenWithoutEndpoints) {
  const World world = worldOfServices({std::string(kService)});
  EXPECT_EQ(resolution(world), "True/ResolvedRefs");
  EXPECT_EQ(world.outcome(), "default/shop");
  EXPECT_THAT(endpoints(world), IsEmpty());
}

TEST(CompileService, ServesHeadlessServicesToo) {
  EXPECT_THAT(endpoints(shop(with(kService, "clusterIP: 10.96.0.7", "clusterIP: None"))),
              ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
}

TEST(CompileService, UsesTheEndpointsOfOneFamily) {
  const std::string v6 =
      with(with(with(with(kSlice, "shop-1", "shop-6"), "IPv4", "IPv6"), "[10.0.0.1]", "['fd00:0::1']"),
           "[10.0.0.2, 10.0.0.99]", "['FD00::1']");
  const std::string valid = with(v6, "[10.0.0.3]", "['fd00::3']");
  EXPECT_THAT(endpoints(worldOfServices({std::string(kService), std::string(kSlice), valid})),
              ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
  const std::string prefers = with(kService, "type: ClusterIP", "ipFamilies: [IPv6, IPv4]");
  EXPECT_THAT(endpoints(worldOfServices({prefers, std::string(kSlice), valid})), ElementsAre("fd00::1 8080"));
  EXPECT_THAT(endpoints(worldOfServices({prefers, std::string(kSlice)})),
              ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
}

TEST(CompileService, KeepsItsIdentityWhenItsEndpointsChange) {
  const World one = shop();
  const World other = shop(std::string(kService), with(kSlice, "10.0.0.1", "10.0.0.4"));
  EXPECT_EQ(firstPlan(one).identity, firstPlan(other).identity);
  const World port =
      worldOfServices({std::string(kService), std::string(kSlice)}, routeToService("name: shop, port: 81"));
  EXPECT_NE(firstPlan(one).identity, firstPlan(port).identity);
  const World h2c = shop(with(kService, "nodePort: 30080", "appProtocol: kubernetes.io/h2c"));
  EXPECT_NE(firstPlan(one).identity, firstPlan(h2c).identity);
}

TEST(CompileService, SpeaksTheProtocolOfItsAppProtocol) {
  const auto spoken = [](const std::string& name) {
    return firstPlan(shop(with(kService, "nodePort: 30080", "appProtocol: " + name))).protocol;
  };
  for (const char* name : {"kubernetes.io/h2c", "h2c", "http2", "grpc", "GRPC", "Kubernetes.io/H2C"}) {
    EXPECT_EQ(spoken(name), routing::UpstreamProtocol::kHttp2) << name;
  }
  for (const char* name : {"kubernetes.io/ws", "ws", "http", "HTTP", "kubernetes.io/WS"}) {
    EXPECT_EQ(spoken(name), routing::UpstreamProtocol::kHttp11) << name;
  }
}

TEST(CompileService, AnswersWith500ForAnUnknownProtocol) {
  for (const char* name : {"kubernetes.io/wss", "Kubernetes.io/WSS", "wss", "https", "HTTPS", "redis",
                           "kubernetes.io/http", "httpss", "example.com/own"}) {
    const World world = shop(with(kService, "nodePort: 30080", "appProtocol: " + std::string(name)));
    EXPECT_EQ(resolution(world), "False/UnsupportedProtocol") << name;
    EXPECT_THAT(why(world), HasSubstr("appProtocol " + std::string(name)));
    EXPECT_EQ(world.outcome(), "500") << name;
  }
  const World udp = shop(with(kService, "protocol: TCP", "protocol: UDP"));
  EXPECT_EQ(resolution(udp), "False/UnsupportedProtocol");
  EXPECT_EQ(udp.outcome(), "500");
}

TEST(CompileService, AcceptsOnePortNumberForTwoProtocols) {
  for (const char* ports : {"{name: dns, port: 80, protocol: UDP}\n  - {name: web, port: 80}",
                            "{name: web, port: 80}\n  - {name: dns, port: 80, protocol: UDP}"}) {
    const World world =
        shop(with(kService, "{name: web, port: 80, targetPort: http, protocol: TCP, nodePort: 30080}", ports));
    EXPECT_THAT(endpoints(world), ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
  }
}

TEST(CompileService, AnswersWith500ForAMissingService) {
  const World none = worldOfServices({std::string(kSlice)});
  EXPECT_EQ(resolution(none), "False/BackendNotFound");
  EXPECT_EQ(none.outcome(), "500");
  const World port =
      worldOfServices({std::string(kService), std::string(kSlice)}, routeToService("name: shop, port: 82"));
  EXPECT_EQ(resolution(port), "False/BackendNotFound");
  EXPECT_THAT(why(port), HasSubstr("Service default/shop: it has no port 82"));
  EXPECT_EQ(port.outcome(), "500");
  const World broken = shop(with(kService, "port: 81", "port: 810000"));
  EXPECT_EQ(resolution(broken), "False/BackendNotFound");
  EXPECT_THAT(why(broken), HasSubstr("it is not valid: spec.ports[1].port"));
}

TEST(CompileService, RefusesTheTypeExternalName) {
  const World world = shop(with(kService, "type: ClusterIP", "type: ExternalName"));
  EXPECT_EQ(resolution(world), "False/InvalidKind");
  EXPECT_THAT(why(world), HasSubstr("ExternalName"));
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileService, RequiresAGrantForAnotherNamespace) {
  const std::string service = with(kService, "name: shop", "name: shop, namespace: store");
  const std::string slice = with(kSlice, "name: shop-1", "name: shop-1, namespace: store");
  const std::string route = routeToService("name: shop, namespace: store, port: 80");
  const World refused = worldOfServices({service, slice}, route);
  EXPECT_EQ(resolution(refused), "False/RefNotPermitted");
  EXPECT_EQ(refused.outcome(), "500");
  const std::string grant = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: store}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}]
  to: [{group: '', kind: Service, name: shop}]
)";
  const World granted = worldOfServices({service, slice, grant}, route);
  EXPECT_EQ(granted.outcome(), "store/shop");
  EXPECT_THAT(endpoints(granted), ElementsAre("10.0.0.1 8080", "10.0.0.2 8080"));
}

// CVE-2021-25740: users who may write EndpointSlices must not reach anything through the gateway that they cannot reach
// directly.
TEST(CompileService, DoesNotLeadToTheGatewaysOwnAddresses) {
  for (const char* address :
       {"127.0.0.1", "169.254.169.254", "169.254.1.1", "0.0.0.0", "224.0.0.1", "100.100.100.200"}) {
    const World world = shop(std::string(kService), with(kSlice, "[10.0.0.1]", "[" + std::string(address) + "]"));
    EXPECT_THAT(endpoints(world), ElementsAre("10.0.0.2 8080")) << address;
    EXPECT_THAT(note(world), HasSubstr("addressGuard.allow does not name are not used: " + std::string(address)));
    EXPECT_EQ(resolution(world), "True/ResolvedRefs");
  }
  for (const char* address : {"::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "ff02::1"}) {
    const std::string slice =
        with(with(with(with(kSlice, "IPv4", "IPv6"), "[10.0.0.1]", "['" + std::string(address) + "']"),
                  "[10.0.0.2, 10.0.0.99]", "['fd00::2']"),
             "[10.0.0.3]", "['fd00::3']");
    EXPECT_THAT(endpoints(shop(std::string(kService), slice)), ElementsAre("fd00::2 8080")) << address;
  }
}

TEST(CompileService, UsesEndpointsThatAddressGuardAllows) {
  const std::string gatewayClass =
      with(kClass, "spec: {controllerName: sluice.dev/egress-gateway}",
           "spec: {controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: "
           "ConfigMap, name: settings, namespace: default}}");
  const std::string settings = test::configMap("settings", "settings.yaml", "addressGuard: {allow: [127.0.0.0/8]}");
  const std::string slice = with(kSlice, "10.0.0.1", "127.0.0.1");
  const std::string route = routeToService();
  const World world({gatewayClass, settings, kGateway, route, kService, slice});
  EXPECT_THAT(endpoints(world), ElementsAre("10.0.0.2 8080", "127.0.0.1 8080"));
  EXPECT_EQ(note(world), "");
}

TEST(CompileService, DoesNotFollowNamesInSlices) {
  const World world = shop(std::string(kService), with(with(kSlice, "IPv4", "FQDN"), "[10.0.0.1]", "[evil.example]"));
  EXPECT_THAT(endpoints(world), IsEmpty());
  EXPECT_THAT(note(world), HasSubstr("addressType FQDN"));
}

}  // namespace
}  // namespace sluice::compile
