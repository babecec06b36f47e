#include "proxy/compile/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::string everythingWithOutcomes(const World& world) {
  std::string text;
  for (const config::ObjectStatus& each : world.result().statuses) text += config::objectStatusJson(each) + "\n";
  for (const routing::Bind& bind : world.snapshot().binds) {
    text += bind.address + " " + std::to_string(bind.port) + " " + std::to_string(bind.identities.size()) + "\n";
  }
  for (const auto& backend : world.snapshot().backends) text += backend->name + " " + backend->identity.text() + "\n";
  for (const char* host : {"a.test", "b.test", "c.example.com"}) {
    for (const char* path : {"/", "/a", "/a/b", "/x"}) text += world.outcome(host, path) + " ";
  }
  return text;
}

TEST(Compile, DoesNotDependOnTheOrderOfDocuments) {
  std::vector<std::string> documents = {
      std::string(kClass),
      std::string(kGateway),
      with(with(kGateway, "name: egress", "name: second"), "port: 80", "port: 81"),
      with(kGateway, "name: egress", "name: third"),
      std::string(kBackend),
      with(kBackend, "name: origin", "name: other"),
      std::string(kRoute),
      with(with(kRoute, "name: route", "name: alpha"), "name: origin", "name: other"),
      with(with(kRoute, "name: route", "name: beta"), "rules: [{", "rules: [{matches: [{path: {value: /a}}], "),
      with(with(kRoute, "name: route", "name: gamma"), "spec:", "spec:\n  hostnames: ['*.example.com']"),
      with(with(kRoute, "name: route", "name: broken"), "spec:", "spec:\n  surprise: 1\n  hostnames: [b.test]"),
      with(kBackend, "name: origin,", "name: x, surprise: 1,"),
  };
  const auto views = [&] { return std::vector<std::string_view>(documents.begin(), documents.end()); };
  const std::string expected = everythingWithOutcomes(World(views()));
  std::mt19937 random(7);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(documents.begin(), documents.end(), random);
    EXPECT_EQ(everythingWithOutcomes(World(views())), expected);
  }
}

TEST(Compile, ListsEachUsedBackendOnce) {
  const World world({kClass, with(kGateway, "port: 80}", "port: 80}, {name: b, protocol: HTTP, port: 81}"), kBackend,
                     with(kBackend, "name: origin", "name: unused"), kRoute,
                     with(kRoute, "name: route", "name: again")});
  ASSERT_EQ(world.snapshot().backends.size(), 1U);
  EXPECT_EQ(world.snapshot().backends.front()->name, "default/origin");
}

TEST(Compile, PutsStatusesInTheOrderOfKinds) {
  const World world({kBackend, kRoute, kGateway, kClass});
  std::vector<std::string> kinds;
  for (const config::ObjectStatus& each : world.result().statuses) kinds.emplace_back(each.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"GatewayClass", "Gateway", "HTTPRoute", "Backend"}));
}

TEST(Compile, MakesASnapshotOfAnEmptyModel) {
  CompileCache cache;
  const CompileResult result = compile(config::Model(), config::Catalog(), processing::BuiltinTypes(), cache);
  ASSERT_NE(result.snapshot, nullptr);
  EXPECT_TRUE(result.snapshot->binds.empty());
  EXPECT_FALSE(result.usable);
}

}  // namespace
}  // namespace sluice::compile
