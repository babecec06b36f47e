// Tests Gateways of a process with an address pool: the addresses on which they are served, and their conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kRoute;
using test::with;
using test::World;
using testing::HasSubstr;
using testing::StartsWith;

/// Returns a Gateway with this list as its spec.addresses and a listener at port 80.
std::string gateway(const std::string& name, const std::string& addresses = "[]", const std::string& created = {}) {
  std::string text = with(test::kGateway, "name: egress", "name: " + name);
  if (!created.empty()) text = with(text, "generation: 4", "generation: 4, creationTimestamp: '" + created + "'");
  return with(text, "[{type: IPAddress, value: 127.0.0.1}]", addresses);
}
std::string fixed(const std::string& value) { return "[{type: IPAddress, value: '" + value + "'}]"; }

constexpr const char* kOlder = "2025-01-01T00:00:00Z";
constexpr const char* kNewer = "2026-01-01T00:00:00Z";

std::vector<std::string> addresses(const World& world, const std::string& name) {
  std::vector<std::string> values;
  for (const config::AddressStatus& each : world.status("Gateway", name)->addresses) values.push_back(each.value);
  return values;
}

TEST(PoolAddresses, GiveEachGatewayOneOfItsOwnSoThatTheirPortsDoNotMeet) {
  World world({kClass, gateway("a"), gateway("b", "[{type: IPAddress}]"), kBackend,
               with(kRoute, "{name: egress}", "{name: a}")});
  world.recompileWithPool("127.8.0.0/24");
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(world.condition("Gateway", name, "Programmed"), "True/Programmed");
    EXPECT_EQ(world.listenerCondition(name, "web", "Accepted"), "True/Accepted");
    ASSERT_EQ(addresses(world, name).size(), 1U);
    EXPECT_THAT(addresses(world, name)[0], StartsWith("127.8.0."));
    EXPECT_NE(world.bind(80, addresses(world, name)[0]), nullptr);
  }
  EXPECT_NE(addresses(world, "a"), addresses(world, "b"));
  EXPECT_EQ(world.snapshot().binds.size(), 2U);
  const test::RequestMaker request("GET", "a.test", "/");
  const auto ruleAt = [&](const char* name) {
    return routing::routesOf(world.bind(80, addresses(world, name)[0])->service).match(request.head()).rule;
  };
  EXPECT_NE(ruleAt("a"), nullptr);
  EXPECT_EQ(ruleAt("b"), nullptr) << "the route is a's";
}

TEST(PoolAddresses, AreThoseOfBeforeForGatewaysThatHaveOne) {
  const std::string newer = gateway("newer", "[]", kNewer);
  World before({kClass, newer});
  before.recompileWithPool("127.8.0.7/32");
  World after({kClass, gateway("older", "[]", kOlder), newer});
  after.recompileWithPool("127.8.0.7/32", before.result().addresses);
  EXPECT_EQ(addresses(after, "newer"), std::vector<std::string>{"127.8.0.7"});
  EXPECT_EQ(after.condition("Gateway", "older", "Programmed"), "False/AddressNotAssigned");
}

TEST(PoolAddresses, MayBeExhaustedWhichAffectsNoOtherGateway) {
  World world({kClass, gateway("first", "[]", kOlder), gateway("second", "[]", kNewer), kBackend,
               with(kRoute, "{name: egress}", "{name: second}")});
  world.recompileWithPool("127.8.0.7/32");
  EXPECT_EQ(world.condition("Gateway", "first", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.condition("Gateway", "second", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "second", "Programmed"), "False/AddressNotAssigned");
  EXPECT_EQ(world.message("Gateway", "second", "Programmed"),
            "spec.addresses: no address is free: Gateways have the one address of the address pool 127.8.0.7/32");
  EXPECT_EQ(world.listenerCondition("second", "web", "Programmed"), "False/Invalid");
  EXPECT_TRUE(addresses(world, "second").empty());
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
}

TEST(PoolAddresses, AreForGatewaysThatAskForNone) {
  World world({kClass, gateway("fixed", fixed("127.0.0.77")),
               gateway("both", "[{type: IPAddress, value: 127.0.0.78}, {type: IPAddress}]")});
  world.recompileWithPool("127.8.0.7/32");
  EXPECT_EQ(addresses(world, "fixed"), std::vector<std::string>{"127.0.0.77"});
  EXPECT_EQ(addresses(world, "both"), (std::vector<std::string>{"127.0.0.78", "127.8.0.7"}));
  EXPECT_EQ(world.snapshot().binds.size(), 3U);
}

TEST(PoolAddresses, CannotBeAskedForOnceAnotherGatewayHasThem) {
  World world({kClass, gateway("asking", fixed("127.8.0.7")), gateway("having")});
  world.recompileWithPool("127.8.0.7/32", {{"Gateway default/having", "127.8.0.7"}});
  EXPECT_EQ(world.condition("Gateway", "having", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.condition("Gateway", "asking", "Programmed"), "False/AddressNotUsable");
  EXPECT_EQ(world.message("Gateway", "asking", "Programmed"),
            "spec.addresses[0].value: 127.8.0.7: Gateway default/having has it of the address pool");
  EXPECT_TRUE(addresses(world, "asking").empty());
  world.recompileWithPool("127.8.0.7/32");
  EXPECT_EQ(world.condition("Gateway", "asking", "Programmed"), "True/Programmed") << "the first by name";
  EXPECT_EQ(world.condition("Gateway", "having", "Programmed"), "False/AddressNotAssigned");
}

TEST(PoolAddresses, AreSharedOnlyByGatewaysThatAskForTheSameOne) {
  World world({kClass, gateway("first", fixed("127.0.0.77"), kOlder), gateway("second", fixed("127.0.0.77"), kNewer)});
  world.recompileWithPool("127.8.0.0/24");
  EXPECT_EQ(world.listenerCondition("first", "web", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("second", "web", "Accepted"), "False/PortUnavailable");
}

TEST(PoolAddresses, LeaveNoGatewayWithAllAddresses) {
  for (const char* all : {"0.0.0.0", "::", "0:0::0"}) {
    World world({kClass, gateway("greedy", fixed(all), kOlder), gateway("modest", "[]", kNewer)});
    world.recompileWithPool("127.8.0.0/24");
    EXPECT_EQ(world.condition("Gateway", "greedy", "Programmed"), "False/AddressNotUsable") << all;
    EXPECT_THAT(world.message("Gateway", "greedy", "Programmed"), HasSubstr("each Gateway has addresses of its own"));
    EXPECT_EQ(world.condition("Gateway", "modest", "Programmed"), "True/Programmed");
    EXPECT_EQ(world.snapshot().binds.size(), 1U);
  }
}

TEST(PoolAddresses, AreNotGivenToGatewaysThatAreNotServed) {
  World world({kClass, with(gateway("absent", "[]", kOlder), "gatewayClassName: sluice", "gatewayClassName: absent"),
               gateway("named", "[{type: Hostname, value: a.test}]", kOlder), gateway("good", "[]", kNewer)});
  world.recompileWithPool("127.8.0.7/32");
  EXPECT_EQ(world.condition("Gateway", "absent", "Accepted"), "Unknown/Pending");
  EXPECT_EQ(world.condition("Gateway", "named", "Accepted"), "False/UnsupportedAddress");
  EXPECT_EQ(addresses(world, "good"), std::vector<std::string>{"127.8.0.7"});
}

TEST(PoolAddresses, SayWhenTheMachineCannotListenThere) {
  World world({kClass, gateway("a"), gateway("far", fixed("203.0.113.9"))});
  world.recompileWithPool("127.8.0.7/32");
  world.recompileWithout({{"203.0.113.9", world.bind(80, "203.0.113.9")->port, "203.0.113.9:80: not of this machine"}});
  EXPECT_EQ(world.condition("Gateway", "far", "Programmed"), "False/AddressNotUsable");
  EXPECT_TRUE(addresses(world, "far").empty());
  EXPECT_EQ(world.condition("Gateway", "a", "Programmed"), "True/Programmed");
}

}  // namespace
}  // namespace sluice::compile
