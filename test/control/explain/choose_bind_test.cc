// Tests which socket is chosen for a URL, and the error if the choice is not unique.
#include "proxy/control/explain/choose_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::World;
using testing::HasSubstr;

constexpr std::string_view kSecond = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: second}
spec:
  gatewayClassName: sluice
  addresses: [{type: IPAddress, value: 127.0.0.2}]
  listeners: [{name: web, protocol: HTTP, port: 8080, hostname: "*.second.test"}]
)";

/// Returns "gateway:port", or the error.
std::string chosen(const World& world, const std::string& url, const std::string& gateway = {}) {
  const auto bind = chooseBind(world.snapshot(), *readUrl(url), gateway);
  if (!bind) return bind.error().detail;
  return (*bind)->address + ":" + std::to_string((*bind)->port);
}

TEST(ChooseBind, TakesThePortOfTheUrlOrOfItsScheme) {
  const World world({test::kClass, test::kGateway, kSecond});
  EXPECT_EQ(chosen(world, "http://a.test/"), "127.0.0.1:80");
  EXPECT_EQ(chosen(world, "http://a.test:8080/"), "127.0.0.2:8080");
  EXPECT_EQ(chosen(world, "http://a.test:81/"),
            "no listener has port 81; there are: default/egress web (http, port 80), default/second web (http, port "
            "8080, *.second.test)");
  EXPECT_THAT(chosen(world, "https://a.test/"), HasSubstr("no listener speaks https; there are: "));
}

TEST(ChooseBind, TakesAnotherPortIfTheSchemesOwnIsNotThere) {
  const World world({test::kClass, test::gatewayWith("{name: web, protocol: HTTP, port: 8080}")});
  EXPECT_EQ(chosen(world, "http://a.test/"), "127.0.0.1:8080");
}

TEST(ChooseBind, TakesTheListenerOfTheHostIfSeveralFit) {
  const World world(
      {test::kClass, test::gatewayWith("{name: web, protocol: HTTP, port: 8081, hostname: '*.first.test'}"), kSecond});
  EXPECT_EQ(chosen(world, "http://a.second.test/"), "127.0.0.2:8080");
  EXPECT_EQ(chosen(world, "http://a.first.test/"), "127.0.0.1:8081");
  EXPECT_THAT(chosen(world, "http://other.test/"), HasSubstr("several listeners fit: default/egress web"));
}

TEST(ChooseBind, TakesTheGatewayThatIsNamed) {
  const World world({test::kClass, test::kGateway, test::with(kSecond, "port: 8080", "port: 80")});
  EXPECT_THAT(chosen(world, "http://a.second.test/"), HasSubstr("several listeners fit"));
  EXPECT_EQ(chosen(world, "http://a.second.test/", "default/second"), "127.0.0.2:80");
  EXPECT_EQ(chosen(world, "http://a.second.test/", "default/egress"), "127.0.0.1:80");
  EXPECT_THAT(chosen(world, "http://a.test/", "default/third"), HasSubstr("no listener of Gateway default/third"));
}

TEST(ChooseBind, NamesTwentyListenersAtMost) {
  std::string listeners;
  for (int i = 0; i < 25; ++i) {
    const std::string name = "n" + std::to_string(i);
    listeners += (i == 0 ? "" : ", ") + ("{name: " + name + ", protocol: HTTP, port: 80, hostname: " + name + ".test}");
  }
  const std::string error = chosen(World({test::kClass, test::gatewayWith(listeners)}), "https://a.test/");
  EXPECT_EQ(std::count(error.begin(), error.end(), '('), 20);
  EXPECT_THAT(error, testing::EndsWith(" and 5 others"));
}

TEST(ChooseBind, TakesSocketsThatDifferByTheirAddressForOne) {
  const World world(
      {test::kClass, test::with(test::kGateway, "{type: IPAddress, value: 127.0.0.1}",
                                "{type: IPAddress, value: 127.0.0.1}, {type: IPAddress, value: 127.0.0.2}")});
  EXPECT_EQ(chosen(world, "http://a.test/"), "127.0.0.1:80");
}

}  // namespace
}  // namespace sluice::control
