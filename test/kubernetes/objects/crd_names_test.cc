// Tests that the releases of Gateway API's CRDs are followed.
#include "proxy/kubernetes/objects/crd_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kRouteCrd = "httproutes.gateway.networking.k8s.io";

class CrdNameTests : public ::testing::Test, private CrdNamesUser {
 protected:
  void start() {
    crds = std::make_unique<CrdNames>(rig.client, static_cast<CrdNamesUser&>(*this));
    rig.inTurn([this] { crds->start(); });
    api.serve();
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    crds.reset();
  }
  void put(const std::string& name, const std::string& channel) {
    api.put(kDefinitions, "", name, "",
            R"("annotations":{"gateway.networking.k8s.io/bundle-version":"v1.6.1",)"
            R"("gateway.networking.k8s.io/channel":")" +
                channel + "\"}");
    api.pass(seconds(1));
  }

  ApiRig rig;
  FakeApi api{rig};
  std::unique_ptr<CrdNames> crds;

 private:
  void onCrds() override {}
};

TEST_F(CrdNameTests, HaveTheReleaseOfEachDefinitionOfGatewayApi) {
  put(kRouteCrd, "standard");
  api.put(kDefinitions, "", "gateways.gateway.networking.k8s.io", "");
  put("backends.sluice.dev", "standard");
  start();
  EXPECT_FALSE(crds->gatewayApi().areFiles);
  EXPECT_THAT(crds->gatewayApi().releases, ElementsAre(Pair("gateways.gateway.networking.k8s.io", config::CrdRelease{}),
                                                       Pair(kRouteCrd, config::CrdRelease{"v1.6.1", "standard"})));
  put(kRouteCrd, "experimental");
  EXPECT_EQ(crds->gatewayApi().releases.at(kRouteCrd).channel, "experimental");
  api.remove(kDefinitions, "", kRouteCrd);
  api.pass(seconds(1));
  EXPECT_FALSE(crds->gatewayApi().releases.contains(kRouteCrd));
  EXPECT_TRUE(crds->has("backends.sluice.dev"));
}

}  // namespace
}  // namespace sluice::kubernetes
