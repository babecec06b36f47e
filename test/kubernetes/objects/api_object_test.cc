// Tests which parts of an API server's objects are kept, and the paths of their lists.
#include "proxy/kubernetes/objects/api_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::Not;

const config::ObjectKind& kindOf(std::string_view group, std::string_view kind) {
  return *config::findObjectKind(group, kind);
}

std::string keptText(const config::ObjectKind& kind, std::string_view version, const std::string& json) {
  return std::string(makeApiObject(kind, version, content::parseJson(json).value(), false).text->text.reveal());
}

constexpr const char* kGatewayApi = "gateway.networking.k8s.io";

TEST(ApiObjects, KeepWhatUsersWriteAndNothingThatChangesByItself) {
  const std::string text = keptText(
      kindOf(kGatewayApi, "HTTPRoute"), "v1",
      R"({"kind":"HTTPRoute","apiVersion":"gateway.networking.k8s.io/v1beta1","metadata":{"name":"a","namespace":"demo",)"
      R"("uid":"u-1","resourceVersion":"77","generation":3,"creationTimestamp":"2026-01-01T00:00:00Z","selfLink":"/x",)"
      R"("labels":{"l":"1"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{...}","own":"2",)"
      R"("leader.sluice.dev/sluice-controller":"changes"},)"
      R"("finalizers":["f"],"ownerReferences":[],"managedFields":[{"manager":"kubectl"}]},)"
      R"("spec":{"hostnames":["h"],"unknown":{"deep":[1.50,null]}},"status":{"parents":[]}})");
  EXPECT_EQ(text, R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"a",)"
                  R"("namespace":"demo","uid":"u-1","generation":3,"creationTimestamp":"2026-01-01T00:00:00Z",)"
                  R"("labels":{"l":"1"},"annotations":{"own":"2"}},)"
                  R"("spec":{"hostnames":["h"],"unknown":{"deep":[1.50,null]}}})");
}

TEST(ApiObjects, KeepNoCopyOfASecretInAnAnnotation) {
  const std::string text = keptText(
      kindOf("", "Secret"), "v1",
      R"({"metadata":{"name":"a","namespace":"demo","annotations":{)"
      R"("kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"k\":\"b2xk\"}}"}},"data":{"k":"bmV3"}})");
  EXPECT_THAT(text, Not(HasSubstr("b2xk")));
  EXPECT_THAT(text, Not(HasSubstr("annotations")));
  EXPECT_THAT(text, HasSubstr("bmV3"));
}

TEST(ApiObjects, KnowWhatStatusesAndEndpointsNeed) {
  const ApiObject route = makeApiObject(
      kindOf(kGatewayApi, "HTTPRoute"), "v1",
      content::parseJson(
          R"({"metadata":{"name":"a","namespace":"d","uid":"u","resourceVersion":"7"},"status":{"parents":[1]}})")
          .value(),
      true);
  EXPECT_EQ(route.uid, "u");
  EXPECT_EQ(route.resourceVersion, "7");
  EXPECT_EQ(route.status, R"({"parents":[1]})");
  EXPECT_THAT(std::string(route.text->text.reveal()), Not(HasSubstr("status")));
  EXPECT_EQ(route.text->file, "kubernetes:HTTPRoute.gateway.networking.k8s.io/d/a");
  const ApiObject slice = makeApiObject(
      kindOf("discovery.k8s.io", "EndpointSlice"), "v1",
      content::parseJson(R"({"metadata":{"name":"s-1","labels":{"kubernetes.io/service-name":"shop"}}})").value(),
      false);
  EXPECT_EQ(slice.service, "shop");
}

TEST(ApiObjects, KeepOfNamespacesTheLabelsAlone) {
  EXPECT_EQ(keptText(kindOf("", "Namespace"), "v1",
                     R"({"metadata":{"name":"a","labels":{"l":"1"}},"spec":{"finalizers":["kubernetes"]}})"),
            R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"l":"1"}}})");
}

TEST(ApiObjects, MakeSomethingOfAnythingThatAServerSends) {
  for (const char* odd : {"{}", R"({"metadata":null})", R"({"metadata":{"annotations":null,"labels":[1]}})",
                          R"({"metadata":[],"spec":null})", R"({"metadata":{"name":7,"annotations":"x"}})"}) {
    for (const config::ObjectKind& kind : config::objectKinds()) {
      EXPECT_TRUE(content::parseJson(keptText(kind, "v1", odd)).ok()) << odd;
    }
  }
}

/// Returns kinds and plurals of the CRDs in a folder, as "group/Kind".
std::map<std::string, std::string> pluralsIn(const std::string& folder) {
  std::map<std::string, std::string> plurals;
  if (!std::filesystem::exists(folder)) return plurals;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string group;
    std::string kind;
    for (std::string line; std::getline(file, line);) {
      const auto value = [&](const std::string& key) {
        return line.starts_with(key) ? line.substr(key.size()) : std::string();
      };
      if (const std::string found = value("  group: "); !found.empty()) group = found;
      if (const std::string found = value("    kind: "); !found.empty()) kind = found;
      if (const std::string found = value("    plural: "); !found.empty()) plurals[group + "/" + kind] = found;
    }
  }
  return plurals;
}

TEST(ApiPaths, NameEachKindAsItsDefinitionDoes) {
  std::map<std::string, std::string> plurals = pluralsIn(SLUICE_SOURCE_DIR "/test/support/kube/crds");
  plurals.merge(pluralsIn(SLUICE_SOURCE_DIR "/config/kustomize/crds"));
  EXPECT_GE(plurals.size(), 8U);
  std::size_t compared = 0;
  for (const config::ObjectKind& kind : config::objectKinds()) {
    const auto found = plurals.find(std::string(kind.group) + "/" + std::string(kind.kind));
    if (found == plurals.end()) continue;
    EXPECT_EQ(pluralOf(kind.kind), found->second);
    ++compared;
  }
  EXPECT_GE(compared, 8U);
  // Their definitions are elsewhere.
  const std::map<std::string, std::string> others = {{"Namespace", "namespaces"},
                                                     {"ConfigMap", "configmaps"},
                                                     {"Secret", "secrets"},
                                                     {"Service", "services"},
                                                     {"EndpointSlice", "endpointslices"},
                                                     {"EgressGateway", "egressgateways"},
                                                     {"Backend", "backends"},
                                                     {"XBackendDestination", "xbackenddestinations"},
                                                     {"XPayloadProcessor", "xpayloadprocessors"},
                                                     {"SecurityPolicy", "securitypolicies"},
                                                     {"ClientTrafficPolicy", "clienttrafficpolicies"},
                                                     {"BackendTrafficPolicy", "backendtrafficpolicies"},
                                                     {"PayloadProcessor", "payloadprocessors"},
                                                     {"EnvoyExtensionPolicy", "envoyextensionpolicies"}};
  for (const auto& [kind, plural] : others) EXPECT_EQ(pluralOf(kind), plural);
}

TEST(ApiPaths, LeadToACollection) {
  EXPECT_EQ(collectionPath(kindOf("", "Service"), "v1"), "/api/v1/services");
  EXPECT_EQ(collectionPath(kindOf("", "Secret"), "v1", "demo"), "/api/v1/namespaces/demo/secrets");
  EXPECT_EQ(collectionPath(kindOf(kGatewayApi, "HTTPRoute"), "v1beta1"),
            "/apis/gateway.networking.k8s.io/v1beta1/httproutes");
}

TEST(ApiPaths, EncodeEverythingInAQueryThatMayMeanSomethingElse) {
  EXPECT_EQ(processing::encodeQuery("metadata.name=a"), "metadata.name%3Da");
  EXPECT_EQ(processing::encodeQuery("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(processing::encodeQuery(" &#+/=?%\n\xC3\xA4"), "%20%26%23%2B%2F%3D%3F%25%0A%C3%A4");
}

}  // namespace
}  // namespace sluice::kubernetes
