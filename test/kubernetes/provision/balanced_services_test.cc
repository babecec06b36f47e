// Tests that the addresses of load balancers are those that Services of Gateways have.
#include "proxy/kubernetes/provision/balanced_services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "test/kubernetes/provision/following_fixture.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kBalancedPath = "/api/v1/services";

class BalancedServiceTests : public FollowingFixture<BalancedServices, BalancedServicesUser> {
 protected:
  void start(const std::string& owner = "u-1") {
    act([&](BalancedServices& services) { services.want({{{"demo", "egress-sluice"}, owner}}); });
  }
  /// Writes the Service of the Gateway.
  void put(const std::string& ingress, const std::string& type = "LoadBalancer") {
    api.put(kBalancedPath, "demo", "egress-sluice",
            R"("spec":{"type":")" + type + R"("},"status":{"loadBalancer":{"ingress":[)" + ingress + "]}}",
            labelledFor("u-1"));
    api.pass(seconds(1));
  }
  std::vector<std::string> addresses() const {
    std::vector<std::string> texts;
    for (const auto& each : follower->addressesOf({"demo", "egress-sluice"})) {
      texts.push_back(each.type + " " + each.value);
    }
    return texts;
  }

 private:
  void onBalancedServices() override { ++changes; }
};

TEST_F(BalancedServiceTests, HaveTheAddressesThatLoadBalancersGaveThem) {
  start();
  EXPECT_THAT(addresses(), IsEmpty());
  put(R"({"ip":"192.0.2.1"},{"ip":"2001:db8::1","ports":[{"port":80}]},{"hostname":"lb.example.com"},{"ip":"192.0.2.1"})");
  EXPECT_THAT(addresses(), ElementsAre("IPAddress 192.0.2.1", "IPAddress 2001:db8::1", "Hostname lb.example.com"));
  EXPECT_EQ(changes, 1);
  put(R"({"ip":"192.0.2.1"},{"ip":"2001:db8::1"},{"hostname":"lb.example.com"})");
  EXPECT_EQ(changes, 1) << "nothing that matters has changed";
  put(R"({"hostname":"lb.example.com"})");
  EXPECT_THAT(addresses(), ElementsAre("Hostname lb.example.com"));
  put("");
  EXPECT_THAT(addresses(), IsEmpty());
  EXPECT_EQ(changes, 3);
}

TEST_F(BalancedServiceTests, CountOnlyForTheGatewayThatOwnsThem) {
  start("u-2");
  put(R"({"ip":"192.0.2.1"})");
  EXPECT_THAT(addresses(), IsEmpty()) << "an earlier Gateway of that name, or somebody else's Service";
  start("u-1");
  EXPECT_THAT(addresses(), SizeIs(1));
  EXPECT_THAT(follower->addressesOf({"other", "egress-sluice"}), IsEmpty());
  start("u-2");
  EXPECT_THAT(addresses(), IsEmpty());
  EXPECT_EQ(changes, 2);
}

TEST_F(BalancedServiceTests, HaveNoneOfAnotherTypeOrForm) {
  start();
  put(R"({"ip":"192.0.2.1"})", "ClusterIP");
  EXPECT_THAT(addresses(), IsEmpty()) << "the status is an old one";
  put(R"({"ip":"one"},{"hostname":"*.example.com"},{"hostname":""},{})");
  EXPECT_THAT(addresses(), IsEmpty());
  std::string many;
  for (int i = 0; i < 20; ++i) many += (i == 0 ? "" : ",") + (R"({"ip":"192.0.2.)" + std::to_string(i) + "\"}");
  put(many);
  EXPECT_THAT(addresses(), SizeIs(16));
}

TEST_F(BalancedServiceTests, AreForgottenWithTheService) {
  start();
  put(R"({"ip":"192.0.2.1"})");
  api.remove(kBalancedPath, "demo", "egress-sluice");
  api.pass(seconds(1));
  EXPECT_THAT(addresses(), IsEmpty());
  EXPECT_EQ(changes, 2);
}

TEST_F(BalancedServiceTests, AreMissedOnceInTheLog) {
  api.forbidden = {kBalancedPath};
  start();
  api.pass(seconds(120));
  EXPECT_EQ(rig.logged.count("the addresses of load balancers cannot be read"), 1U);
  put(R"({"ip":"192.0.2.1"})");
  api.forbidden.clear();
  api.pass(seconds(60));
  EXPECT_THAT(addresses(), ElementsAre("IPAddress 192.0.2.1"));
}

}  // namespace
}  // namespace sluice::kubernetes
