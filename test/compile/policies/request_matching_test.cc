// Tests which listeners get the `matching` of a TrafficPolicy, and its effect on the requests of a compiled table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/routing/settle_head.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::routeWithRules;
using test::World;

constexpr const char* kMatchedListeners =
    "{name: web, protocol: HTTP, port: 80}, {name: named, protocol: HTTP, port: 80, hostname: named.test}, "
    "{name: other, protocol: HTTP, port: 81}";
constexpr const char* kMatchedGateway = "kind: Gateway, name: egress";
constexpr const char* kMatchedListener = "kind: Gateway, name: egress, sectionName: named";
/// One rule for a path below /admin.
constexpr const char* kMatchedRules =
    "rules: [{matches: [{path: {value: /admin}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, "
    "name: "
    "origin, port: 8080}]}]";

std::string matchingPolicy(const std::string& name, const std::string& target, const std::string& fields) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " + target + "}], " + fields + "}\n";
}

World matchingWorld(const std::vector<std::string>& policies) {
  const std::string gateway = gatewayWith(kMatchedListeners);
  const std::string route = routeWithRules(kMatchedRules);
  std::vector<std::string_view> documents = {kClass, gateway, kBackend, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}

/// Returns the authority by which a request is matched and sent on.
std::string settledAuthority(const World& world, std::string_view authority, std::uint16_t port = 80) {
  const test::RequestMaker request("GET", authority, "/");
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::RequestHead head = request.head();
  EXPECT_FALSE(routing::settleHead(arena, head, routing::routesOf(world.bind(port)->service)));
  return std::string(head.authority);
}

TEST(RequestMatching, BelongsToTheListenersThatThePolicyIsFor) {
  const World none = matchingWorld({});
  EXPECT_EQ(settledAuthority(none, "a.test:8080"), "a.test:8080");
  EXPECT_EQ(none.outcome("a.test", "/admin;v=1/x"), "404");
  const World all = matchingWorld(
      {matchingPolicy("p", kMatchedGateway, "matching: {stripAuthorityPort: true, ignorePathParameters: true}")});
  for (const char* host : {"a.test", "named.test"}) {
    EXPECT_EQ(settledAuthority(all, std::string(host) + ":8080"), host);
    EXPECT_EQ(all.outcome(host, "/admin;v=1/x"), "default/origin") << host;
  }
  EXPECT_EQ(settledAuthority(all, "a.test:8080", 81), "a.test");
  const World one = matchingWorld(
      {matchingPolicy("p", kMatchedListener, "matching: {stripAuthorityPort: true, ignorePathParameters: true}")});
  EXPECT_EQ(settledAuthority(one, "named.test:8080"), "named.test");
  EXPECT_EQ(settledAuthority(one, "a.test:8080"), "a.test:8080");
  EXPECT_EQ(one.outcome("named.test", "/admin;v=1"), "default/origin");
  EXPECT_EQ(one.outcome("a.test", "/admin;v=1"), "404");
  EXPECT_EQ(one.condition("TrafficPolicy", "p", "Accepted"), "True/Accepted");
}

TEST(RequestMatching, OfAListenerReplacesThatOfItsGateway) {
  const std::string gateway = matchingPolicy("g", kMatchedGateway, "matching: {stripAuthorityPort: true}");
  const World without =
      matchingWorld({gateway, matchingPolicy("l", kMatchedListener, "matching: {stripAuthorityPort: false}")});
  EXPECT_EQ(settledAuthority(without, "named.test:8080"), "named.test:8080");
  EXPECT_EQ(settledAuthority(without, "a.test:8080"), "a.test");
  const World inherited = matchingWorld({gateway, matchingPolicy("l", kMatchedListener, "retry: {}")});
  EXPECT_EQ(settledAuthority(inherited, "named.test:8080"), "named.test") << "that policy has no such field";
}

TEST(RequestMatching, TakesThePortOfEachKindOfHost) {
  const World world = matchingWorld({matchingPolicy("p", kMatchedGateway, "matching: {stripAuthorityPort: true}")});
  EXPECT_EQ(settledAuthority(world, "a.test"), "a.test");
  EXPECT_EQ(settledAuthority(world, "192.0.2.1:80"), "192.0.2.1");
  EXPECT_EQ(settledAuthority(world, "[2001:db8::1]:8080"), "[2001:db8::1]");
  EXPECT_EQ(settledAuthority(world, "[2001:db8::1]"), "[2001:db8::1]");
  EXPECT_EQ(settledAuthority(world, ""), "") << "HTTP/1.0 may name none";
}

}  // namespace
}  // namespace sluice::compile
