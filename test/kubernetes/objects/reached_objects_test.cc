#include "proxy/kubernetes/objects/reached_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/load/text_cache.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::string apiObject(const std::string& version, const std::string& kind, const std::string& nameSpace,
                      const std::string& name, const std::string& rest) {
  return R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","metadata":{)" +
         (nameSpace.empty() ? "" : R"("namespace":")" + nameSpace + "\",") + R"("name":")" + name + "\"}," + rest + "}";
}
std::string reachingRoute(const std::string& nameSpace, const std::string& name, const std::string& backend) {
  return apiObject(
      "gateway.networking.k8s.io/v1", "HTTPRoute", nameSpace, name,
      R"("spec":{"parentRefs":[{"name":"egress","namespace":"demo"}],"rules":[{"backendRefs":[)" + backend + "]}]}");
}
std::string reachedBackend(const std::string& nameSpace, const std::string& name, const std::string& more = "") {
  return apiObject("sluice.dev/v1alpha1", "Backend", nameSpace, name,
                   R"("spec":{"destination":{"type":"Fqdn","fqdn":{"hostname":"a.example","port":443}})" + more + "}");
}
std::string reachedPolicy(const std::string& nameSpace, const std::string& name) {
  return apiObject("sluice.dev/v1alpha1", "TrafficPolicy", nameSpace, name, R"("spec":{"timeout":{"request":"1s"}})");
}
std::string reachedConfigMap(const std::string& nameSpace, const std::string& text) {
  return apiObject("v1", "ConfigMap", nameSpace, "settings", R"("data":{"settings.yaml":")" + text + "\"}");
}

const std::string kReachingGateway = apiObject("gateway.networking.k8s.io/v1", "Gateway", "demo", "egress",
                                               R"("spec":{"gatewayClassName":"sluice","listeners":[]})");

/// Finds the objects of one set after the other. Equal texts are the same from set to set, as with an API server.
class SuccessiveSets {
 public:
  /// Returns the names of the reached objects without the Gateway.
  std::vector<std::string> namesOf(std::vector<std::string> texts) {
    texts.insert(texts.begin(), kReachingGateway);
    config::KeptTexts kept;
    for (const std::string& text : texts) {
      auto& same = texts_[text];
      if (same == nullptr) {
        same =
            std::make_shared<const config::KeptText>("kubernetes:" + std::to_string(texts_.size()), base::Secret(text));
      }
      kept.push_back(same);
    }
    config::TextCache cache;
    const config::ObjectSet reached = reached_.of(config::readTexts(kept, {}, base::Secret("key"), cache));
    EXPECT_EQ(reached.texts.size(), reached.readings.size());
    std::vector<std::string> names;
    for (const auto& readings : reached.readings) names.push_back(readings->front().identity.name);
    EXPECT_EQ(names.at(0), "egress");
    names.erase(names.begin());
    return names;
  }

 private:
  std::map<std::string, std::shared_ptr<const config::KeptText>> texts_;
  ReachedObjects reached_;
};

std::vector<std::string> namesOf(const std::vector<std::string>& texts) { return SuccessiveSets().namesOf(texts); }

TEST(ReachedObjects, AreBackendsThatSomethingNames) {
  EXPECT_THAT(namesOf({reachingRoute("demo", "r", R"({"kind":"Backend","name":"one"})"), reachedBackend("demo", "one"),
                       reachedBackend("demo", "two")}),
              ElementsAre("r", "one"));
}

TEST(ReachedObjects, AreNoBackendsOfTheSameNameInAnotherNamespace) {
  const std::vector<std::string> backends = {reachedBackend("demo", "one"), reachedBackend("other", "one"),
                                             reachedBackend("third", "one")};
  const auto reachedBy = [&](const std::string& text) {
    std::vector<std::string> all = backends;
    all.insert(all.begin(), text);
    all.insert(all.begin(), reachingRoute("third", "of-third", R"({"name":"two"})"));
    return namesOf(all).size() - 2;
  };
  EXPECT_EQ(reachedBy(reachingRoute("demo", "r", R"({"name":"one"})")), 1u) << "although a route is in third";
  EXPECT_EQ(reachedBy(reachingRoute("team", "r", R"({"name":"one"})")), 1u) << "demo is where its Gateway is";
  EXPECT_EQ(reachedBy(reachingRoute("demo", "r", R"({"name":"one","namespace":"other"})")), 2u);
  EXPECT_EQ(reachedBy(reachedConfigMap("demo", "one")), 3u) << "settings have the references of others";
}

TEST(ReachedObjects, AreFoundAgainFromOneSetToTheNext) {
  SuccessiveSets sets;
  const std::string route = reachingRoute("demo", "r", R"({"name":"one"})");
  EXPECT_THAT(sets.namesOf({route}), ElementsAre("r"));
  EXPECT_THAT(sets.namesOf({route, reachedBackend("demo", "one")}), ElementsAre("r", "one"))
      << "a Backend that comes after the route that names it";
  EXPECT_THAT(sets.namesOf({route, reachedBackend("demo", "two")}), ElementsAre("r"));
  EXPECT_THAT(sets.namesOf({reachingRoute("demo", "r", R"({"name":"two"})"), reachedBackend("demo", "two")}),
              ElementsAre("r", "two"));
  EXPECT_THAT(sets.namesOf({route, reachedBackend("demo", "one"), reachedBackend("demo", "two")}),
              ElementsAre("r", "one"));
}

TEST(ReachedObjects, AreBackendsThatAReachedBackendNames) {
  EXPECT_THAT(namesOf({reachingRoute("demo", "r", R"({"name":"one"})"), reachedBackend("demo", "three"),
                       reachedBackend("demo", "two", R"(,"extensions":[{"config":{"backendRef":{"name":"three"}}}])"),
                       reachedBackend("demo", "one", R"(,"extensions":[{"config":{"backendRef":{"name":"two"}}}])"),
                       reachedBackend("demo", "four", R"(,"extensions":[{"config":{"backendRef":{"name":"five"}}}])"),
                       reachedBackend("demo", "five")}),
              UnorderedElementsAre("r", "one", "two", "three"));
}

TEST(ReachedObjects, AreAllOthersOfANamespaceThatIsReached) {
  EXPECT_THAT(
      namesOf({reachedPolicy("demo", "near"), reachedPolicy("far", "unreached"), reachedPolicy("team", "of-route"),
               reachedPolicy("shared", "named"), reachingRoute("team", "r", R"({"name":"one","namespace":"shared"})")}),
      UnorderedElementsAre("near", "of-route", "named", "r"));
}

TEST(ReachedObjects, AreNamedInTextsWithinTextsToo) {
  const std::vector<std::string> backends = {reachedBackend("demo", "one"), reachedBackend("demo", "two.three"),
                                             reachedBackend("demo", "four"), reachedBackend("demo", "five")};
  const auto with = [&](const std::string& text) {
    std::vector<std::string> all = backends;
    all.push_back(reachedConfigMap("demo", text));
    return namesOf(all);
  };
  EXPECT_THAT(with("a:\\none\\n"), UnorderedElementsAre("one", "settings")) << "after an escaped character";
  EXPECT_THAT(with("a:\\u000afive"), UnorderedElementsAre("five", "settings"));
  EXPECT_THAT(with("two.three/x"), UnorderedElementsAre("two.three", "settings"));
  EXPECT_THAT(with("four.demo.svc."), UnorderedElementsAre("four", "settings")) << "as a part of a host name";
  EXPECT_THAT(with("fourteen ones"), UnorderedElementsAre("settings")) << "a word is whole";
}

TEST(ReachedObjects, AreWhateverHasNoNamespaceOrWasNamedByItsName) {
  const std::string ofClass = apiObject("gateway.networking.k8s.io/v1", "GatewayClass", "", "sluice",
                                        R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
  const std::string secret = apiObject("v1", "Secret", "vault", "key", R"("data":{"one":"far"})");
  EXPECT_THAT(namesOf({ofClass, secret, reachedBackend("demo", "one"), reachedPolicy("far", "p")}),
              ElementsAre("sluice", "key"))
      << "what a Secret holds names nothing";
  EXPECT_THAT(namesOf({reachedConfigMap("far", "a: b"), reachedPolicy("far", "p")}), ElementsAre("settings"))
      << "or the namespace would stay reached for ever";
}

}  // namespace
}  // namespace sluice::kubernetes
