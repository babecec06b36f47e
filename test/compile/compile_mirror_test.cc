#include <gtest/gtest.h>

#include <limits>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Returns a Backend named "copy".
std::string copyBackend(const std::string& nameSpace = "default") {
  return with(with(kBackend, "name: origin,", "namespace: " + nameSpace + ", name: copy,"), "Origin.Test", "copy.test");
}
std::string mirror(const std::string& ref, const std::string& more = {}) {
  return "{type: RequestMirror, requestMirror: {backendRef: {group: gateway.networking.k8s.io, kind: Backend, " + ref +
         "}" + more + "}}";
}
/// Returns the route with these filters, either in its rule or in its weighted backend.
std::string routeWithMirrors(const std::string& filters) {
  return with(kRoute, "rules: [{", "rules: [{filters: [" + filters + "], ");
}
std::string routeWithBackendFilters(const std::string& filters) {
  return with(kRoute, "port: 8080}", "port: 8080, filters: [" + filters + "]}");
}
const routing::Rule* ruleOf(const World& world) { return world.rule(test::RequestMaker("GET", "a.test", "/")); }

TEST(CompileMirror, ResolvesItsBackend) {
  const World world(
      {kClass, kGateway, kBackend, copyBackend(), routeWithMirrors(mirror("name: copy", ", percent: 25"))});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  const routing::Rule* rule = ruleOf(world);
  ASSERT_EQ(rule->mirrors.size(), 1U);
  EXPECT_EQ(rule->mirrors[0].backend->name, "default/copy");
  EXPECT_FALSE(rule->mirrors[0].takesAll());
  EXPECT_TRUE(rule->mirrors[0].takes(kMost / 4 - kMost / 1000));
  EXPECT_FALSE(rule->mirrors[0].takes(kMost / 4 + kMost / 1000));
  EXPECT_EQ(world.snapshot().backends.size(), 2U) << "the pools of mirrors outlive a reload too";
  EXPECT_EQ(world.condition("Backend", "copy", "Accepted"), "True/Accepted") << "it is in use by the Gateway";
}

TEST(CompileMirror, IsKeptAtItsWeightedBackend) {
  const World world({kClass, kGateway, kBackend, copyBackend(),
                     routeWithBackendFilters(mirror("name: copy") + ", " + mirror("name: origin"))});
  const routing::Rule* rule = ruleOf(world);
  EXPECT_TRUE(rule->mirrors.empty());
  ASSERT_EQ(rule->backends.at(0).mirrors.size(), 2U);
  EXPECT_TRUE(rule->backends[0].mirrors[0].takesAll());
  EXPECT_EQ(world.snapshot().backends.size(), 2U);
}

// HTTPRequestMirrorFilter.backendRef demands that a mirror with an unresolved reference is not configured but reported,
// and that the request is served.
TEST(CompileMirror, LeavesOutAndReportsAMirrorWithABrokenReference) {
  for (const auto& [ref, reason] :
       {std::pair("name: missing", "BackendNotFound"), std::pair("name: copy, namespace: other", "RefNotPermitted"),
        std::pair("name: origin, port: 1", "BackendNotFound")}) {
    for (const bool ofBackendRef : {true, false}) {
      const std::string filter = mirror(ref);
      const World world({kClass, kGateway, kBackend, copyBackend("other"),
                         ofBackendRef ? routeWithBackendFilters(filter) : routeWithMirrors(filter)});
      EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted") << ref;
      EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/" + std::string(reason)) << ref;
      EXPECT_NE(world.message("HTTPRoute", "route", "ResolvedRefs").find("requestMirror.backendRef"),
                std::string::npos);
      EXPECT_EQ(world.outcome(), "default/origin") << ref;
      EXPECT_TRUE(ruleOf(world)->mirrors.empty());
      EXPECT_TRUE(ruleOf(world)->backends.at(0).mirrors.empty());
    }
  }
}

TEST(CompileMirror, CrossesNamespacesByAGrant) {
  const World world(
      {kClass, kGateway, kBackend, copyBackend("other"), routeWithMirrors(mirror("name: copy, namespace: other")), R"(
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: grant, namespace: other}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}]
  to: [{group: gateway.networking.k8s.io, kind: Backend}]
)"});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(ruleOf(world)->mirrors.at(0).backend->name, "other/copy");
}

TEST(CompileMirror, CopiesTheConfiguredFraction) {
  const routing::RequestMirror none{nullptr, 0, 100};
  EXPECT_FALSE(none.takes(0));
  const routing::RequestMirror all{nullptr, 100, 100};
  EXPECT_TRUE(all.takesAll());
  EXPECT_TRUE(all.takes(kMost));
  const routing::RequestMirror most{nullptr, 2147483646, 2147483647};
  EXPECT_TRUE(most.takes(0));
  EXPECT_FALSE(most.takes(kMost));
  const routing::RequestMirror few{nullptr, 1, 2147483647};
  EXPECT_TRUE(few.takes(0));
  EXPECT_FALSE(few.takes(std::uint64_t{1} << 34));
}

}  // namespace
}  // namespace sluice::compile
