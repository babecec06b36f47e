// Tests that objects of other spellings and what they are converted to are compiled to the same rules.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "test/compile/compile_world.h"
#include "test/compile/routes/described_rule.h"
#include "test/config/convert/converted.h"

namespace sluice::compile {
namespace {

using test::kClass;
using test::kGateway;
using test::World;

/// Group and kind of each spelling, as identities and messages have them, and those of the counterpart.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"XBackendDestination", "Backend"},
    {"XBackend", "Backend"},
    {"BackendTrafficPolicy", "TrafficPolicy"},
    {"gateway.envoyproxy.io", "sluice.dev"},
    {"ainetworking.prototype.x-k8s.io", "sluice.dev"},
    {"gateway.networking.x-k8s.io", "sluice.dev"},
    {"Backend.gateway.networking.k8s.io", "Backend.sluice.dev"}};

std::string inOurNames(std::string text) {
  for (const auto& [before, after] : kRenamed) {
    for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + after.size())) {
      text.replace(at, before.size(), after);
    }
  }
  return text;
}

/// Leaves out the lines about sessions, whose tags are made of the references to Backends, and the revisions of
/// objects: both change.
std::string withoutRevisions(const std::string& text) {
  std::string rest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("    session ")) rest += line.substr(0, line.find(",\"servedRevision\"")) + "\n";
  }
  return rest;
}

std::string matchedRules(const World& world, const test::RequestMaker& request) {
  std::string text;
  for (const routing::Bind& bind : world.snapshot().binds) {
    const routing::RouteMatch match = routing::routesOf(bind.service).match(request.head());
    text += match.rule == nullptr ? match.reason : test::describedRule(*match.rule);
    text += "\n";
  }
  return text;
}

template <typename Route>
std::string hostOf(const Route& route) {
  return route.hostnames.empty() ? "a.test" : route.hostnames.front();
}

/// Describes the rule of each route, and the statuses of routes.
std::string describedRoutes(const World& world) {
  std::string text;
  for (const config::HttpRoute& route : world.model().all<config::HttpRoute>()) {
    const auto& matches = route.rules.front().matches;
    const std::string path = matches.empty() ? "/" : matches.front().path.value;
    text += route.meta.name + ": " + matchedRules(world, test::RequestMaker("GET", hostOf(route), path));
  }
  for (const config::GrpcRoute& route : world.model().all<config::GrpcRoute>()) {
    text += route.meta.name + ": " + matchedRules(world, test::RequestMaker("POST", hostOf(route), "/shop.Calls/Get"));
  }
  for (const config::ObjectStatus& each : world.result().statuses) {
    if (each.kind.ends_with("Route")) text += config::objectStatusJson(each) + "\n";
  }
  return withoutRevisions(inOurNames(std::move(text)));
}

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Compares the rules of a configuration before and after its conversion. Returns false if something is lost.
bool isSameConverted(const std::string& text) {
  const config::ConvertedTexts converted = config::convertText(text);
  if (!converted.complete) return false;
  const std::string before = describedRoutes(World({text}));
  EXPECT_FALSE(before.empty()) << text;
  EXPECT_EQ(describedRoutes(World({converted.text})), before) << converted.text;
  return true;
}

TEST(ConvertedObjects, AreCompiledToTheSameRules) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const std::string gateway = std::string(kClass) + "---\n" + std::string(kGateway) + "---\n";
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "test/compile/policies/envoy_gateway")) {
    if (isSameConverted(gateway + contentOf(entry.path()))) ++compared;
  }
  EXPECT_GT(compared, 8u);
  const std::string ofBackends = contentOf(root / "examples/backends/gateway.yaml") + "---\n";
  for (const char* spelling :
       {"proposal-first", "proposal-later", "prototype-backend", "prototype-destination", "sluice", "xbackend"}) {
    const std::filesystem::path file = root / "examples/backends" / (std::string(spelling) + ".yaml");
    EXPECT_TRUE(isSameConverted(ofBackends + contentOf(file))) << spelling;
  }
}

TEST(ConvertedObjects, OfAnEgressGatewayAreServedByAGateway) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const std::string text = test::with(kClass, "name: sluice,", "name: egress,") + "---\n" +
                           contentOf(root / "examples/backends/prototype-egress-gateway.yaml");
  const config::ConvertedTexts converted = config::convertText(text);
  EXPECT_TRUE(converted.complete) << converted.text;
  constexpr std::uint16_t kPort = 10081;
  const std::string name = "demo/prototype-egress-gateway";
  EXPECT_EQ(World({text}).outcome("prototype-egress-gateway.test", "/", kPort), name);
  const World after({converted.text});
  EXPECT_EQ(after.outcome("prototype-egress-gateway.test", "/", kPort), name);
  EXPECT_EQ(after.condition("Gateway", "egress", "Accepted"), "True/Accepted");
}

}  // namespace
}  // namespace sluice::compile
