// Tests which objects of a cluster are kept, and the order in which they are listed.
#include "proxy/kubernetes/objects/cluster_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kClassPath = "/apis/gateway.networking.k8s.io/v1/gatewayclasses";
constexpr const char* kGatewayPath = "/apis/gateway.networking.k8s.io/v1/gateways";
constexpr const char* kRoutePath = "/apis/gateway.networking.k8s.io/v1/httproutes";
constexpr const char* kGrpcPath = "/apis/gateway.networking.k8s.io/v1/grpcroutes";
constexpr const char* kGrantPath = "/apis/gateway.networking.k8s.io/v1/referencegrants";
constexpr const char* kOldGrantPath = "/apis/gateway.networking.k8s.io/v1beta1/referencegrants";
constexpr const char* kCrdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kServicePath = "/api/v1/services";
constexpr const char* kSlicePath = "/apis/discovery.k8s.io/v1/endpointslices";
constexpr const char* kSecretPath = "/api/v1/secrets";

struct OtherUser final : ClusterObjectsUser {
  void onObjects(const ClusterObjects::Touched& all) override { seen += all.size(); }
  std::size_t seen = 0;
};

class ClusterObjectTests : public ::testing::Test, private ClusterObjectsUser {
 protected:
  ClusterObjectTests() {
    api.put(kClassPath, "", "sluice", R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
    gateway("egress");
    route("first", "egress");
  }
  void gateway(const std::string& name, const std::string& className = "sluice") {
    api.put(kGatewayPath, "demo", name, R"("spec":{"gatewayClassName":")" + className + "\"}");
  }
  void route(const std::string& name, const std::string& parent, const std::string& more = "") {
    api.put(kRoutePath, "demo", name, R"("spec":{"parentRefs":[{"name":")" + parent + "\"}]}" + more);
  }
  void service(const std::string& name, const std::string& type = "ClusterIP") {
    api.put(kServicePath, "demo", name, R"("spec":{"type":")" + type + "\"}");
  }
  void slice(const std::string& name, const std::string& of) {
    api.put(kSlicePath, "demo", name, R"("addressType":"IPv4")",
            R"("labels":{"kubernetes.io/service-name":")" + of + "\"}");
  }
  void start(ClusterScope scope = {}) {
    rig.inTurn([&] {
      objects = std::make_unique<ClusterObjects>(rig.client, std::move(scope));
      objects->addUser(*this);
      objects->start();
    });
    api.serve();
  }
  void need(NamedObjects names) {
    rig.inTurn([&] { objects->need(std::move(names)); });
    api.serve();
  }
  void startWithNeeds(NamedObjects names = {}, ClusterScope scope = {}) {
    start(std::move(scope));
    need(std::move(names));
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    objects.reset();
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto& text : objects->texts()) names.push_back(text->file.substr(config::kApiServerPrefix.size()));
    return names;
  }
  static std::string routeName(const std::string& name) { return "HTTPRoute.gateway.networking.k8s.io/demo/" + name; }
  static std::string gatewayName(const std::string& name) { return "Gateway.gateway.networking.k8s.io/demo/" + name; }

  ApiRig rig;
  FakeApi api{rig};
  std::unique_ptr<ClusterObjects> objects;
  int changes = 0;
  std::vector<std::string> touched;  // names

 private:
  void onObjects(const ClusterObjects::Touched& all) override {
    ++changes;
    for (const auto& [kind, key] : all) touched.push_back(key.second);
  }
};

TEST_F(ClusterObjectTests, AskForEachKindOnceThoseBeforeItAreKnown) {
  api.holds = "gatewayclasses";
  start();
  EXPECT_EQ(api.asked("gatewayclasses?"), 1U);
  EXPECT_EQ(api.asked("/gateways?"), 0U);
  EXPECT_FALSE(objects->listed());
  EXPECT_THAT(objects->awaited(), HasSubstr("the list of kind GatewayClass.gateway.networking.k8s.io"));
  api.release();
  EXPECT_EQ(api.asked("/gateways?"), 1U);
}

TEST_F(ClusterObjectTests, NotifyAllUsersOnceOfEachObject) {
  OtherUser other;
  startWithNeeds({}, {.withStatus = true});
  EXPECT_THAT(touched, UnorderedElementsAre("sluice", "egress", "first"));
  touched.clear();
  objects->addUser(other);
  route("second", "egress");
  EXPECT_THAT(touched, ElementsAre("second"));
  EXPECT_EQ(other.seen, 1U);
}

TEST_F(ClusterObjectTests, NotifyAtTheEndOfATurnOfAllThatHasCome) {
  startWithNeeds({}, {.withStatus = true});
  changes = 0;
  {
    const net::Worker::Turn turn(rig.worker);
    objects->need({});
    objects->need({});
    EXPECT_EQ(changes, 0) << "more may come in this turn";
    EXPECT_FALSE(objects->isSettled());
  }
  EXPECT_EQ(changes, 1);
  EXPECT_TRUE(objects->isSettled());
}

TEST_F(ClusterObjectTests, AskForServicesAloneAndForNoSecretUntilItIsKnownWhatIsNamed) {
  start();
  EXPECT_TRUE(objects->listed());
  EXPECT_FALSE(objects->complete());
  EXPECT_EQ(api.asked("/services?"), 0U);
  EXPECT_EQ(api.asked("secrets"), 0U);
  EXPECT_EQ(api.asked("configmaps"), 0U);
  need({.secrets = {{"demo", "token"}}});
  EXPECT_TRUE(objects->complete());
  EXPECT_EQ(api.asked("/services?"), 1U);
  EXPECT_EQ(api.asked("/api/v1/namespaces/demo/secrets?"), 1U);
  EXPECT_EQ(api.asked("fieldSelector=metadata.name%3Dtoken"), 1U);
}

TEST_F(ClusterObjectTests, AreCompleteWithoutAnythingThatIsNamed) {
  startWithNeeds();
  EXPECT_TRUE(objects->complete());
  EXPECT_EQ(objects->awaited(), "");
  EXPECT_GT(changes, 0);
}

TEST_F(ClusterObjectTests, KeepOnlyWhatBelongsToServedGateways) {
  gateway("foreign", "other");
  route("foreign", "foreign");
  for (int i = 0; i < 300; ++i) route("foreign-" + std::to_string(i), "foreign");
  api.put(kRoutePath, "elsewhere", "across",
          R"("spec":{"parentRefs":[{"name":"x"},{"namespace":"demo","name":"egress"}]})");
  api.put(kRoutePath, "elsewhere", "same-name", R"("spec":{"parentRefs":[{"name":"egress"}]})");
  startWithNeeds();
  EXPECT_THAT(kept(), UnorderedElementsAre("GatewayClass.gateway.networking.k8s.io/sluice", gatewayName("egress"),
                                           routeName("first"), "HTTPRoute.gateway.networking.k8s.io/elsewhere/across"));
}

TEST_F(ClusterObjectTests, ReadTheRoutesAgainForANewGateway) {
  route("early", "late");
  startWithNeeds();
  EXPECT_THAT(kept(), Not(Contains(routeName("early"))));
  EXPECT_TRUE(objects->takeChanged());
  api.holds = "httproutes";
  gateway("late");
  EXPECT_FALSE(objects->complete()) << "its routes are still to come";
  EXPECT_THAT(kept(), Contains(routeName("first"))) << "what is known stays meanwhile";
  api.release();
  EXPECT_TRUE(objects->complete());
  EXPECT_THAT(kept(), Contains(routeName("early")));
  EXPECT_TRUE(objects->takeChanged());
}

TEST_F(ClusterObjectTests, ForgetTheRoutesOfAGatewayThatIsGone) {
  gateway("other");
  route("second", "other");
  startWithNeeds();
  EXPECT_THAT(kept(), Contains(routeName("second")));
  const std::size_t lists = api.asked("httproutes");
  api.remove(kGatewayPath, "demo", "other");
  EXPECT_THAT(kept(), Not(Contains(routeName("second"))));
  EXPECT_THAT(kept(), Contains(routeName("first")));
  EXPECT_EQ(api.asked("httproutes"), lists) << "nothing has to be read for that";
}

TEST_F(ClusterObjectTests, FollowGatewaysOfAClassThatComesLaterAndForgetThemWithIt) {
  gateway("patient", "late");
  route("patient", "patient");
  startWithNeeds();
  api.put(kClassPath, "", "late", R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
  EXPECT_THAT(kept(), Contains(gatewayName("patient")));
  EXPECT_THAT(kept(), Contains(routeName("patient")));
  api.put(kClassPath, "", "late", R"("spec":{"controllerName":"somebody.else/controller"})");
  EXPECT_THAT(kept(), Not(Contains(gatewayName("patient"))));
  EXPECT_THAT(kept(), Not(Contains(routeName("patient"))));
  EXPECT_TRUE(objects->complete());
}

TEST_F(ClusterObjectTests, KeepTheGatewaysOfTheirScopeAlone) {
  gateway("other");
  route("second", "other");
  startWithNeeds({}, {.gateways = {"demo/other"}});
  EXPECT_THAT(kept(), UnorderedElementsAre("GatewayClass.gateway.networking.k8s.io/sluice", gatewayName("other"),
                                           routeName("second")));
}

TEST_F(ClusterObjectTests, KeepRoutesThatHaveAStatusOfOursForWhoeverWritesStatuses) {
  const std::string ours = R"(,"status":{"parents":[{"controllerName":"sluice.dev/egress-gateway"}]})";
  gateway("other");
  route("left", "gone", ours);
  route("leaving", "other", ours);
  route("foreign", "gone", R"(,"status":{"parents":[{"controllerName":"somebody.else/controller"}]})");
  startWithNeeds({}, {.withStatus = true});
  EXPECT_THAT(kept(), Contains(routeName("left")));
  EXPECT_THAT(kept(), Not(Contains(routeName("foreign"))));
  api.remove(kGatewayPath, "demo", "other");
  EXPECT_THAT(kept(), Contains(routeName("leaving"))) << "its status is still to be removed";
  const auto newest = objects->find("gateway.networking.k8s.io", "HTTPRoute", {"demo", "left"});
  ASSERT_NE(newest.object, nullptr);
  EXPECT_EQ(newest.version, "v1");
  EXPECT_THAT(newest.object->status, HasSubstr("parents"));
  std::vector<std::string> seen;
  objects->forEach([&](const config::ObjectKind& kind, const ApiObjectKey& key, const ApiObject&) {
    if (kind.kind == "HTTPRoute") seen.push_back(key.second);
  });
  EXPECT_THAT(seen, ElementsAre("first", "leaving", "left"));
}

TEST_F(ClusterObjectTests, AreNotChangedByAStatus) {
  startWithNeeds({}, {.withStatus = true});
  EXPECT_TRUE(objects->takeChanged());
  route("first", "egress", R"(,"status":{"parents":[]})");
  EXPECT_FALSE(objects->takeChanged());
  route("first", "egress", R"(,"extra":1)");
  EXPECT_TRUE(objects->takeChanged());
}

TEST_F(ClusterObjectTests, ReadAKindOnceItsDefinitionIsInstalled) {
  api.absent = {kGrpcPath};
  startWithNeeds();
  EXPECT_TRUE(objects->complete()) << "a kind that is not installed has no objects";
  EXPECT_EQ(rig.logged.count("does not have these kinds"), 1U);
  EXPECT_THAT(rig.logged.text(), HasSubstr("GRPCRoute.gateway.networking.k8s.io"));
  api.pass(seconds(60));
  EXPECT_EQ(rig.logged.count("does not have these kinds"), 1U);
  api.absent.clear();
  api.put(kGrpcPath, "demo", "calls", R"("spec":{"parentRefs":[{"name":"egress"}]})");
  api.put(kCrdPath, "", "grpcroutes.gateway.networking.k8s.io", "");
  api.pass(seconds(1));
  EXPECT_THAT(kept(), Contains("GRPCRoute.gateway.networking.k8s.io/demo/calls"));
  EXPECT_EQ(rig.logged.count("these kinds are installed now"), 1U);
}

TEST_F(ClusterObjectTests, ForgetAKindWhoseDefinitionIsDeletedAndReadItWhenItComesBack) {
  startWithNeeds();
  EXPECT_TRUE(objects->takeChanged());
  api.absent = {kRoutePath, "/apis/gateway.networking.k8s.io/v1beta1/httproutes"};
  api.endWatches(kRoutePath);
  api.pass(seconds(3));
  EXPECT_THAT(kept(), Not(Contains(routeName("first"))));
  EXPECT_TRUE(objects->takeChanged());
  EXPECT_TRUE(objects->complete());
  api.absent.clear();
  api.put(kCrdPath, "", "httproutes.gateway.networking.k8s.io", "");
  api.pass(seconds(1));
  EXPECT_THAT(kept(), Contains(routeName("first")));
}

TEST_F(ClusterObjectTests, ForgetNothingWhileAServerThatStartsDoesNotFindWhatIsInstalled) {
  api.put(kCrdPath, "", "httproutes.gateway.networking.k8s.io", "");
  startWithNeeds();
  EXPECT_TRUE(objects->takeChanged());
  api.absent = {kRoutePath, "/apis/gateway.networking.k8s.io/v1beta1/httproutes"};
  api.endWatches(kRoutePath);
  api.pass(seconds(10));
  EXPECT_THAT(kept(), Contains(routeName("first")));
  EXPECT_FALSE(objects->takeChanged());
  EXPECT_TRUE(objects->complete());
  EXPECT_EQ(rig.logged.count("the API server fails"), 1U);
  api.absent.clear();
  route("second", "egress");
  api.pass(seconds(3));
  EXPECT_THAT(kept(), Contains(routeName("second")));
  EXPECT_EQ(rig.logged.count("answers again"), 1U);
  // Only when the definition goes, too, the objects are gone.
  api.absent = {kRoutePath, "/apis/gateway.networking.k8s.io/v1beta1/httproutes"};
  api.endWatches(kRoutePath);
  api.pass(seconds(3));
  api.remove(kCrdPath, "", "httproutes.gateway.networking.k8s.io");
  api.pass(seconds(3));
  EXPECT_THAT(kept(), Not(Contains(routeName("first"))));
}

TEST_F(ClusterObjectTests, ReadAnOlderVersionWhereTheServerHasNoOther) {
  api.absent = {kGrantPath};
  api.put(kOldGrantPath, "demo", "grant", R"("spec":{})");
  startWithNeeds();
  EXPECT_THAT(kept(), Contains("ReferenceGrant.gateway.networking.k8s.io/demo/grant"));
  bool found = false;
  for (const auto& text : objects->texts()) {
    found = found || text->text.reveal().find("gateway.networking.k8s.io/v1beta1") != std::string::npos;
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(rig.logged.count("does not have these kinds"), 0U);
}

TEST_F(ClusterObjectTests, SayWhichKindsAreForbiddenAndServeTheOthers) {
  api.forbidden = {kGrpcPath};
  startWithNeeds();
  EXPECT_TRUE(objects->complete());
  EXPECT_EQ(rig.logged.count("forbids reading these objects"), 1U);
  EXPECT_THAT(rig.logged.text(), HasSubstr("GRPCRoute.gateway.networking.k8s.io"));
  api.pass(seconds(20));
  EXPECT_EQ(rig.logged.count("forbids reading these objects"), 1U);
  api.put(kGrpcPath, "demo", "calls", R"("spec":{"parentRefs":[{"name":"egress"}]})");
  api.forbidden.clear();
  api.pass(seconds(50));
  EXPECT_THAT(kept(), Contains("GRPCRoute.gateway.networking.k8s.io/demo/calls"));
  EXPECT_EQ(rig.logged.count("allows reading these objects again"), 1U);
}

TEST_F(ClusterObjectTests, AreNotCompleteWithoutAKindThatIsInstalledAndForbidden) {
  api.put(kCrdPath, "", "grpcroutes.gateway.networking.k8s.io", R"("spec":{})");
  api.forbidden = {kGrpcPath};
  startWithNeeds();
  EXPECT_FALSE(objects->listed());
  EXPECT_FALSE(objects->complete());
  EXPECT_THAT(objects->awaited(), HasSubstr("the list of kind GRPCRoute.gateway.networking.k8s.io (HTTP status 403"));
  api.forbidden.clear();
  api.pass(seconds(50));
  EXPECT_TRUE(objects->complete());
}

TEST_F(ClusterObjectTests, TellOfAForbiddenSecretUntilItIsPermitted) {
  api.put(kSecretPath, "demo", "token", R"("data":{"t":"c2VjcmV0"})");
  api.forbidden = {std::string(kSecretPath) + " token"};
  startWithNeeds({.secrets = {{"demo", "token"}}});
  EXPECT_TRUE(objects->complete());
  EXPECT_TRUE(objects->takeChanged());
  ASSERT_EQ(objects->forbidden().size(), 1U);
  EXPECT_EQ(objects->forbidden()[0].kind, "Secret");
  EXPECT_EQ(objects->forbidden()[0].key, ApiObjectKey("demo", "token"));
  EXPECT_THAT(objects->forbidden()[0].message, HasSubstr("is forbidden"));
  api.pass(seconds(2));
  EXPECT_FALSE(objects->takeChanged()) << "nothing is different";
  api.forbidden.clear();
  api.pass(seconds(50));
  EXPECT_THAT(objects->forbidden(), IsEmpty());
  EXPECT_THAT(kept(), Contains("Secret/demo/token"));
  EXPECT_TRUE(objects->takeChanged());
  EXPECT_THAT(rig.logged.text(), Not(HasSubstr("c2VjcmV0")));
}

TEST_F(ClusterObjectTests, AreChangedWhenAForbiddenSecretTurnsOutNotToExist) {
  api.forbidden = {std::string(kSecretPath) + " token"};
  startWithNeeds({.secrets = {{"demo", "token"}}});
  EXPECT_TRUE(objects->takeChanged());
  api.forbidden.clear();
  api.pass(seconds(50));
  EXPECT_THAT(objects->forbidden(), IsEmpty());
  EXPECT_TRUE(objects->takeChanged());
}

TEST_F(ClusterObjectTests, KeepASecretThatWasReadWhenItIsForbiddenLater) {
  api.put(kSecretPath, "demo", "token", R"("data":{"t":"c2VjcmV0"})");
  startWithNeeds({.secrets = {{"demo", "token"}}});
  EXPECT_TRUE(objects->takeChanged());
  api.forbidden = {std::string(kSecretPath) + " token"};
  rig.clock.advance(seconds(2));
  api.endWatches(kSecretPath);
  api.pass(seconds(5));
  EXPECT_THAT(kept(), Contains("Secret/demo/token"));
  EXPECT_FALSE(objects->takeChanged());
  EXPECT_EQ(rig.logged.count("the API server fails"), 1U);
  api.forbidden.clear();
  api.pass(seconds(50));
  EXPECT_EQ(rig.logged.count("answers again"), 1U);
}

TEST_F(ClusterObjectTests, FollowASecretThatDoesNotExistYet) {
  startWithNeeds({.secrets = {{"demo", "token"}}, .configMaps = {{"demo", "ca"}}});
  EXPECT_TRUE(objects->complete());
  api.put(kSecretPath, "demo", "other", R"("data":{})");
  EXPECT_THAT(kept(), Not(Contains("Secret/demo/other")));
  api.put(kSecretPath, "demo", "token", R"("data":{})");
  EXPECT_THAT(kept(), Contains("Secret/demo/token"));
  need({});
  EXPECT_THAT(kept(), Not(Contains("Secret/demo/token")));
}

TEST_F(ClusterObjectTests, KeepTheServicesThatAreNamedWithTheirSlices) {
  service("shop");
  service("other");
  slice("shop-1", "shop");
  slice("other-1", "other");
  startWithNeeds({.services = {{"demo", "shop"}}});
  EXPECT_THAT(kept(), Contains("Service/demo/shop"));
  EXPECT_THAT(kept(), Contains("EndpointSlice.discovery.k8s.io/demo/shop-1"));
  EXPECT_THAT(kept(), Not(Contains("Service/demo/other")));
  EXPECT_THAT(kept(), Not(Contains("EndpointSlice.discovery.k8s.io/demo/other-1")));
  const std::size_t before = rig.requests();
  need({.services = {{"demo", "shop"}, {"demo", "other"}}});
  EXPECT_TRUE(objects->complete());
  EXPECT_THAT(kept(), Contains("Service/demo/other"));
  EXPECT_THAT(kept(), Contains("EndpointSlice.discovery.k8s.io/demo/other-1"));
  EXPECT_EQ(rig.requests(), before + 2) << "that Service and its slices";
  need({.services = {{"demo", "other"}}});
  EXPECT_THAT(kept(), Not(Contains("Service/demo/shop")));
  EXPECT_THAT(kept(), Not(Contains("EndpointSlice.discovery.k8s.io/demo/shop-1")));
}

TEST_F(ClusterObjectTests, PreferWhatTheWatchHasShownToAnOlderFetch) {
  service("shop");
  service("gone");
  startWithNeeds();
  api.holds = "limit=";
  need({.services = {{"demo", "shop"}, {"demo", "gone"}}});
  EXPECT_FALSE(objects->complete());
  // The server's answers are on their way while the watch already shows newer versions.
  ASSERT_EQ(api.held.size(), 4U);
  const auto old = [](const std::string& name) {
    return R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"demo","name":")" + name +
           R"(","resourceVersion":"1"},"spec":{"type":"ClusterIP"}}]})";
  };
  service("shop", "NodePort");
  api.remove(kServicePath, "demo", "gone");
  for (const std::size_t number : std::exchange(api.held, {})) {
    const std::string target = rig.target(number);
    if (target.find("/services") == std::string::npos) {
      api.answer(number);
    } else {
      rig.answer(number, 200, old(target.find("shop") != std::string::npos ? "shop" : "gone"));
    }
  }
  EXPECT_TRUE(objects->complete());
  EXPECT_THAT(kept(), Not(Contains("Service/demo/gone")));
  for (const auto& text : objects->texts()) {
    if (text->file.ends_with("Service/demo/shop")) {
      EXPECT_THAT(text->text.reveal(), HasSubstr("NodePort"));
    }
  }
}

TEST_F(ClusterObjectTests, GiveUpAFetchThatIsForbiddenOnlyWhenBothOfItsListsHaveEnded) {
  service("shop");
  slice("shop-1", "shop");
  startWithNeeds();
  api.forbidden = {std::string(kServicePath) + " shop"};
  api.holds = "endpointslices?limit=";
  need({.services = {{"demo", "shop"}}});
  api.pass(seconds(3));
  EXPECT_FALSE(objects->complete()) << "its slices are still to come";
  api.release();
  EXPECT_TRUE(objects->complete());
  EXPECT_THAT(kept(), Contains("EndpointSlice.discovery.k8s.io/demo/shop-1"));
}

TEST_F(ClusterObjectTests, KeepEverythingWhileTheServerIsAwayAndSayItOnce) {
  startWithNeeds();
  EXPECT_TRUE(objects->takeChanged());
  const auto before = kept();
  rig.accepts = false;
  for (std::size_t i = 0; i < rig.dialer.wires.size(); ++i) rig.dialer.wires[i]->reset();
  api.pass(seconds(20));
  EXPECT_EQ(kept(), before);
  EXPECT_TRUE(objects->complete());
  EXPECT_FALSE(objects->takeChanged());
  EXPECT_EQ(rig.logged.count("the API server fails"), 1U);
  rig.accepts = true;
  route("second", "egress");
  api.pass(seconds(60));
  EXPECT_THAT(kept(), Contains(routeName("second")));
  EXPECT_EQ(rig.logged.count("the API server fails"), 1U);
  EXPECT_EQ(rig.logged.count("answers again"), 1U);
}

}  // namespace
}  // namespace sluice::kubernetes
