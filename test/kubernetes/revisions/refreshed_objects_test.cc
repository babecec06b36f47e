#include "proxy/kubernetes/revisions/refreshed_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::kubernetes {
namespace {

using testing::UnorderedElementsAre;

using NamedText = std::pair<std::string, std::string>;  // the name of the text, and the text

/// A route to a Service.
NamedText labelledRoute(const std::string& value, const std::string& service = "web") {
  return {
      "kubernetes:HTTPRoute/demo/r",
      R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"r","namespace":"demo",)"
      R"("labels":{"is":")" +
          value + R"("}},"spec":{"rules":[{"backendRefs":[{"name":")" + service + R"(","port":80}]}]}})"};
}
/// A Gateway with a certificate.
NamedText labelledGateway(const std::string& value, const std::string& secret = "s") {
  return {"kubernetes:Gateway/demo/g",
          R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"g","namespace":"demo",)"
          R"("labels":{"is":")" +
              value +
              R"("}},"spec":{"gatewayClassName":"c","listeners":[{"name":"a","port":443,"protocol":"HTTPS","tls":)"
              R"({"certificateRefs":[{"name":")" +
              secret + R"("}]}}]}})"};
}
NamedText labelledSecret(const std::string& name, const std::string& value) {
  return {"kubernetes:Secret/demo/" + name, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name +
                                                R"(","namespace":"demo","labels":{"is":")" + value +
                                                R"("}},"data":{}})"};
}
NamedText labelledService(const std::string& name, const std::string& value) {
  return {"kubernetes:Service/demo/" + name, R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name +
                                                 R"(","namespace":"demo","labels":{"is":")" + value +
                                                 R"("}},"spec":{"ports":[{"port":80}]}})"};
}
NamedText labelledSlice(const std::string& name, const std::string& service, const std::string& value) {
  return {"kubernetes:EndpointSlice.discovery.k8s.io/demo/" + name,
          R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":")" + name +
              R"(","namespace":"demo","labels":{"kubernetes.io/service-name":")" + service + R"(","is":")" + value +
              R"("}},"addressType":"IPv4","endpoints":[],"ports":[]})"};
}

config::ObjectSet setOfNamed(const std::vector<NamedText>& texts) {
  config::KeptTexts kept;
  for (const auto& [file, text] : texts) {
    kept.push_back(std::make_shared<const config::KeptText>(file, base::Secret(text)));
  }
  config::TextCache cache;
  return config::readTexts(kept, {}, base::Secret("key"), cache);
}

/// Returns "kind name value" of each object.
std::vector<std::string> valuesOf(const config::ObjectSet& set) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < set.readings.size(); ++i) {
    const config::ObjectIdentity& identity = set.readings[i]->front().identity;
    const std::string text(set.texts[i]->text.reveal());
    const std::size_t value = text.find("\"is\":\"") + 6;
    values.push_back(identity.kind + " " + identity.name + " " + text.substr(value, text.find('"', value) - value));
  }
  return values;
}

TEST(RefreshedObjects, AreTheSecretsAndServicesOfNowAndTheRoutesOfBefore) {
  const config::ObjectSet refreshed =
      refreshedObjects(setOfNamed({labelledRoute("old"), labelledGateway("old"), labelledSecret("s", "old"),
                                   labelledService("web", "old")}),
                       setOfNamed({labelledRoute("new"), labelledGateway("new"), labelledSecret("s", "new"),
                                   labelledService("web", "new"), labelledSecret("of-others", "new"),
                                   labelledService("of-others", "new")}));
  EXPECT_THAT(valuesOf(refreshed),
              UnorderedElementsAre("HTTPRoute r old", "Gateway g old", "Secret s new", "Service web new"));
}

TEST(RefreshedObjects, StayAsTheyWereIfNobodyNamesThemNow) {
  const config::ObjectSet served = setOfNamed({labelledRoute("old"), labelledGateway("old"), labelledSecret("s", "old"),
                                               labelledService("web", "old"), labelledSlice("web-1", "web", "old")});
  const config::ObjectSet newest = setOfNamed({labelledRoute("new", "other"), labelledGateway("new", "other")});
  EXPECT_EQ(valuesOf(refreshedObjects(served, newest)), valuesOf(served));
}

TEST(RefreshedObjects, AreGoneOrThereAsTheyAreNow) {
  const config::ObjectSet refreshed =
      refreshedObjects(setOfNamed({labelledRoute("old"), labelledGateway("old"), labelledSecret("s", "old")}),
                       setOfNamed({labelledRoute("new"), labelledGateway("new"), labelledService("web", "new")}));
  EXPECT_THAT(valuesOf(refreshed), UnorderedElementsAre("HTTPRoute r old", "Gateway g old", "Service web new"))
      << "the Secret was deleted, and the Service came";
}

TEST(RefreshedObjects, HaveTheEndpointSlicesOfNowOfTheirServices) {
  const config::ObjectSet refreshed = refreshedObjects(
      setOfNamed({labelledRoute("old"), labelledService("web", "old"), labelledSlice("web-1", "web", "old"),
                  labelledSlice("web-2", "web", "old")}),
      setOfNamed({labelledRoute("new"), labelledService("web", "old"), labelledSlice("web-2", "web", "new"),
                  labelledSlice("web-3", "web", "new"), labelledSlice("other-1", "other", "new")}));
  EXPECT_THAT(valuesOf(refreshed), UnorderedElementsAre("HTTPRoute r old", "Service web old", "EndpointSlice web-2 new",
                                                        "EndpointSlice web-3 new"));
}

TEST(RefreshedObjects, AreThoseOfTheApiServerAlone) {
  NamedText ofFile = labelledSecret("s", "file");
  ofFile.first = "secrets.yaml";
  EXPECT_THAT(
      valuesOf(refreshedObjects(setOfNamed({labelledGateway("old"), ofFile}), setOfNamed({labelledGateway("new")}))),
      UnorderedElementsAre("Gateway g old", "Secret s file"));
}

TEST(RefreshedObjects, AreNotReplacedByWhatMustNotBeRead) {
  const config::ObjectSet served = setOfNamed({labelledGateway("old"), labelledSecret("s", "old")});
  config::ObjectSet newest = setOfNamed({labelledGateway("new"), labelledSecret("s", "forbidden")});
  newest.texts[1] = std::make_shared<const config::KeptText>();
  EXPECT_EQ(valuesOf(refreshedObjects(served, newest)), valuesOf(served));
  EXPECT_THAT(valuesOf(refreshedObjects(newest, served)), UnorderedElementsAre("Gateway g new", "Secret s old"))
      << "it can be read now";
}

}  // namespace
}  // namespace sluice::kubernetes
