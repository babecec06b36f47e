// Tests Service and EndpointSlice: fields that matter are read strictly, and all other fields of the API are ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/last_good.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration service(const std::string& rest) { return loadText(object("v1", "Service", "s", rest + "\n")); }
Configuration slice(const std::string& rest) {
  return loadText(
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
      "metadata: {name: s-1, labels: {kubernetes.io/service-name: s}}\n" +
      rest + "\n");
}

std::vector<std::string> addressesOf(const EndpointSlice& slice) {
  std::vector<std::string> addresses;
  for (const EndpointSlice::SliceEndpoint& each : slice.endpoints) addresses.push_back(each.address);
  return addresses;
}

TEST(ServiceObject, IsReadDespiteOtherFieldsOfTheApiServer) {
  const Configuration read = service(
      "spec: {type: LoadBalancer, clusterIP: None, clusterIPs: [None], selector: {a: b}, internalTrafficPolicy: "
      "Cluster, "
      "futureField: {x: 1}, ipFamilies: [IPv6], ports: [{name: web, port: 80, targetPort: http, nodePort: 30000, "
      "appProtocol: kubernetes.io/h2c}, {port: 81, targetPort: 8081, protocol: UDP}]}\nstatus: {loadBalancer: "
      "{}}\nother: 1");
  ASSERT_THAT(rendered(read.problems), IsEmpty());
  const Service& found = *read.model.find<Service>("default", "s");
  EXPECT_FALSE(found.isExternalName);
  EXPECT_TRUE(found.prefersIpv6);
  EXPECT_EQ(found.ports.at(0).name, "web");
  EXPECT_EQ(found.ports.at(0).number, 80);
  EXPECT_EQ(found.ports.at(0).targetPort, 0);
  EXPECT_EQ(found.ports.at(0).appProtocol, "kubernetes.io/h2c");
  EXPECT_EQ(found.ports.at(0).protocol, TransportProtocol::kTcp);
  EXPECT_EQ(found.ports.at(1).targetPort, 8081);
  EXPECT_EQ(found.ports.at(1).protocol, TransportProtocol::kOther);
}

TEST(ServiceObject, RemembersTheTypeExternalName) {
  EXPECT_TRUE(service("spec: {type: ExternalName, externalName: a.example}").model.all<Service>().at(0).isExternalName);
}

TEST(ServiceObject, ReportsProblemsOfTheFieldsThatMatter) {
  EXPECT_THAT(rendered(service("spec: {type: Cluster, ports: [{port: 0}, {name: a}]}").problems),
              ElementsAre(HasSubstr("spec.type: must be"), HasSubstr("spec.ports[0].port: must be between 1 and 65535"),
                          HasSubstr("spec.ports[1].port: is required")));
}

TEST(EndpointSliceObject, KeepsTheFirstAddressOfReadyEndpoints) {
  const Configuration read = slice(
      "addressType: IPv4\nports: [{name: web, port: 8080, appProtocol: http}, {name: any, port: null}]\n"
      "endpoints: [{addresses: [10.0.0.1, 10.0.0.9], hints: {}}, {addresses: [10.0.0.2], conditions: {ready: null}}, "
      "{addresses: [10.0.0.3], conditions: {ready: false, serving: true}}, {addresses: [10.0.0.4], conditions: {ready: "
      "true}}]");
  ASSERT_THAT(rendered(read.problems), IsEmpty());
  const EndpointSlice& found = *read.model.find<EndpointSlice>("default", "s-1");
  EXPECT_EQ(found.service, "s");
  EXPECT_EQ(found.addressType, AddressType::kIpv4);
  EXPECT_THAT(addressesOf(found), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.4"));
  EXPECT_EQ(found.ports.at(0).number, 8080);
  EXPECT_EQ(found.ports.at(1).number, 0);
}

TEST(EndpointSliceObject, KeepsTerminatingEndpointsThatServe) {
  const Configuration read = slice(
      "addressType: IPv4\nendpoints:\n- {addresses: [10.0.0.1], conditions: {ready: true, serving: true}}\n"
      "- {addresses: [10.0.0.2], conditions: {ready: false, serving: true, terminating: true}}\n"
      "- {addresses: [10.0.0.3], conditions: {ready: false, serving: false, terminating: true}}\n"
      "- {addresses: [10.0.0.4], conditions: {ready: false, serving: null, terminating: true}}\n"
      "- {addresses: [10.0.0.5], conditions: {ready: true, serving: true, terminating: true}}");
  ASSERT_THAT(rendered(read.problems), IsEmpty());
  const EndpointSlice& found = *read.model.find<EndpointSlice>("default", "s-1");
  EXPECT_THAT(addressesOf(found), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.5"));
  EXPECT_FALSE(found.endpoints.at(0).terminating);
  EXPECT_TRUE(found.endpoints.at(1).terminating);
  EXPECT_FALSE(found.endpoints.at(2).terminating) << "publishNotReadyAddresses: it is ready by decree";
}

TEST(EndpointSliceObject, KeepsTheZonesOfEndpoints) {
  const Configuration read = slice(
      "addressType: IPv4\nendpoints: [{addresses: [10.0.0.1], zone: Eu_west.1-a, hints: {forZones: [{name: b, later: "
      "1}, {name: c}], forNodes: [{name: n}]}}, {addresses: [10.0.0.2], zone: null, hints: {forZones: []}}]");
  ASSERT_THAT(rendered(read.problems), IsEmpty());
  const EndpointSlice& found = *read.model.find<EndpointSlice>("default", "s-1");
  EXPECT_EQ(found.endpoints.at(0).zones, (base::EndpointZones{"Eu_west.1-a", {"b", "c"}}));
  EXPECT_EQ(found.endpoints.at(1).zones, base::EndpointZones());
}

TEST(EndpointSliceObject, KeepsEndpointsWhoseZonesAreNoLabels) {
  const auto problems = [](const std::string& fields) {
    return rendered(slice("addressType: IPv4\nendpoints: [{addresses: [10.0.0.1], " + fields + "}]").problems);
  };
  for (const std::string& zone : {std::string(64, 'a'), std::string("-a"), std::string("a/b")}) {
    EXPECT_THAT(problems("zone: " + zone), IsEmpty()) << zone;
    EXPECT_THAT(problems("hints: {forZones: [{name: a}, {name: " + zone + "}]}"), IsEmpty()) << zone;
  }
  EXPECT_THAT(problems("hints: {forZones: [{}]}"), ElementsAre(HasSubstr("forZones[0].name: is required")));
  const auto hints = [](int count) {
    std::string text = "hints: {forZones: [";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "{name: z" : ", {name: z") + std::to_string(i) + "}";
    return text + "]}";
  };
  EXPECT_THAT(problems(hints(8)), IsEmpty());
  EXPECT_THAT(problems(hints(9)), ElementsAre(HasSubstr("at most 8")));
}

TEST(EndpointSliceObject, ReportsProblemsOfTheFieldsThatMatter) {
  EXPECT_THAT(rendered(slice("endpoints: []").problems), ElementsAre(HasSubstr("addressType: is required")));
  EXPECT_THAT(
      rendered(slice("addressType: IPv4\nendpoints: [{}, {addresses: ['fd00::1']}, {addresses: [10.1]}]").problems),
      ElementsAre(HasSubstr("endpoints[0].addresses: is required"), HasSubstr("endpoints[1].addresses: must be"),
                  HasSubstr("endpoints[2].addresses")));
  EXPECT_THAT(
      rendered(slice("addressType: IPv4\nendpoints: [{addresses: [10.0.0.1], conditions: {ready: 'no'}}]").problems),
      ElementsAre(HasSubstr("conditions.ready: must be true or false")));
}

TEST(EndpointSliceObject, HasAtMost1000Endpoints) {
  const auto with = [](int count) {
    std::string text = "addressType: IPv4\nendpoints:\n";
    for (int i = 0; i < count; ++i) text += "- {addresses: [10.0.0.1]}\n";
    return rendered(slice(text).problems);
  };
  EXPECT_THAT(with(1000), IsEmpty());
  EXPECT_THAT(with(1001), ElementsAre(HasSubstr("at most 1000")));
}

TEST(EndpointSliceObject, KeepsItsLastGoodVersionWhenItIsRefused) {
  const Configuration before = slice("addressType: IPv4\nendpoints: [{addresses: [10.0.0.1]}]");
  Configuration after = slice("addressType: IPv5");
  keepLastGood(after.model, before.model);
  EXPECT_THAT(addressesOf(*after.model.find<EndpointSlice>("default", "s-1")), ElementsAre("10.0.0.1"));
}

}  // namespace
}  // namespace sluice::config
