// Tests which routes of other namespaces are kept: a process of chosen Gateways needs none that no listener may admit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/kubernetes/objects/cluster_objects.h"
#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using testing::Contains;
using testing::Not;

constexpr const char* kApiPath = "/apis/gateway.networking.k8s.io/v1/";

class RoutesOfOthers : public ::testing::Test {
 protected:
  RoutesOfOthers() {
    api.put(kApiPath + std::string("gatewayclasses"), "", "sluice",
            R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
    admitFrom("Same");
    for (const char* nameSpace : {"demo", "elsewhere"}) {
      api.put(kApiPath + std::string("httproutes"), nameSpace, "r",
              R"("spec":{"parentRefs":[{"namespace":"demo","name":"egress"}]})");
    }
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    objects.reset();
  }
  void admitFrom(const std::string& from) {
    api.put(kApiPath + std::string("gateways"), "demo", "egress",
            R"("spec":{"gatewayClassName":"sluice","listeners":[{"name":"a","allowedRoutes":{"namespaces":{"from":")" +
                from + "\"}}}]}");
  }
  void start(ClusterScope scope) {
    rig.inTurn([&] {
      objects = std::make_unique<ClusterObjects>(rig.client, std::move(scope));
      objects->start();
    });
    api.serve();
    rig.inTurn([&] { objects->need({}); });
    api.serve();
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto& text : objects->texts()) names.push_back(text->file.substr(config::kApiServerPrefix.size()));
    return names;
  }

  const std::string own = "HTTPRoute.gateway.networking.k8s.io/demo/r";
  const std::string across = "HTTPRoute.gateway.networking.k8s.io/elsewhere/r";
  ApiRig rig;
  FakeApi api{rig};
  std::unique_ptr<ClusterObjects> objects;
};

TEST_F(RoutesOfOthers, AreKeptForChosenGatewaysOnlyIfAListenerMayAdmitThem) {
  start({.gateways = {"demo/egress"}});
  EXPECT_THAT(kept(), Not(Contains(across)));
  EXPECT_THAT(kept(), Contains(own));
  for (const char* from : {"All", "Selector"}) {
    admitFrom(from);
    EXPECT_THAT(kept(), Contains(across)) << from;
    admitFrom("Same");
    EXPECT_THAT(kept(), Not(Contains(across))) << from;
    EXPECT_THAT(kept(), Contains(own));
  }
  EXPECT_TRUE(objects->complete());
}

TEST_F(RoutesOfOthers, AreKeptByWhoeverWritesTheirStatuses) {
  start({.gateways = {"demo/egress"}, .withStatus = true});
  EXPECT_THAT(kept(), Contains(across));
}

}  // namespace
}  // namespace sluice::kubernetes
