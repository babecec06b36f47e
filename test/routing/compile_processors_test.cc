// Extensions of Backends into chains: types, phases, Secrets and grants, and what each Backend is told of its own.
#include "proxy/routing/compile_processors.h"

#include <gtest/gtest.h>

#include "test/routing/compile_world.h"
#include "test/routing/processor_types.h"

namespace sluice::routing {
namespace {

using processing::Phase;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::Request;
using test::with;
using test::World;

World worldWith(const std::string& extensions, const std::vector<std::string_view>& more = {}) {
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + extensions + "], ");
  std::vector<std::string_view> documents = {kClass, kGateway, kRoute, backend};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, nullptr, test::processorTypes());
}

std::string use(const std::string& fields) { return "{name: a, type: 'sluice.dev/Test:v1', " + fields + "}"; }
std::string degraded(const World& world) { return world.condition("Backend", "origin", "Degraded"); }

const processing::Chain* chainOf(const World& world) {
  const Rule* rule = world.rule(Request("GET", "a.test", "/"));
  return rule == nullptr ? nullptr : rule->backends.front().backend->chain.get();
}

TEST(CompileProcessors, PutsStepsIntoTheirPhasesByPriority) {
  const World world = worldWith(
      "{name: late, type: 'sluice.dev/Test:v1', phase: request-headers, priority: 9}, {name: early, type: "
      "'sluice.dev/Test:v1', phase: request-headers, priority: -1, failOpen: true}, {name: other, type: "
      "'sluice.dev/Test:v1', phase: backend-request}");
  EXPECT_EQ(degraded(world), "");
  const processing::Chain* chain = chainOf(world);
  ASSERT_NE(chain, nullptr);
  const auto steps = chain->of(Phase::kRequestHeaders);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].name, "early");
  EXPECT_TRUE(steps[0].failOpen);
  EXPECT_EQ(steps[1].name, "late");
  EXPECT_EQ(chain->of(Phase::kBackendRequest).size(), 1U);
  EXPECT_FALSE(chain->has(Phase::kResponseHeaders));
}

TEST(CompileProcessors, TellsWhatKeepsOneFromRunning) {
  EXPECT_EQ(degraded(worldWith(use("phase: response-body"))), "True/UnsupportedPhase");
  EXPECT_EQ(degraded(worldWith(use("phase: backend-request, preAuth: true"))), "True/InvalidPreAuthPhase");
  EXPECT_EQ(degraded(worldWith(use("phase: request-headers, preAuth: true"))), "");
  EXPECT_EQ(degraded(worldWith("{name: a, type: 'sluice.dev/Absent:v1', phase: connect}")),
            "True/UnsupportedExtensionType");
}

TEST(CompileProcessors, OneThatFailsOpenIsLeftOutAndTold) {
  const World world =
      worldWith(use("phase: request-headers") + ", {name: b, type: 'x.test/B:v1', phase: connect, failOpen: true}");
  EXPECT_EQ(degraded(world), "True/UnsupportedExtensionType");
  EXPECT_EQ(world.outcome(), "default/origin");
  ASSERT_NE(chainOf(world), nullptr);
  EXPECT_EQ(chainOf(world)->of(Phase::kRequestHeaders).size(), 1U);
}

TEST(CompileProcessors, LendsSecretsThatTheBackendMayReferTo) {
  const std::string secret = test::secret("token", {{"key", "value"}});
  EXPECT_EQ(degraded(worldWith(use("phase: request-headers, config: {secret: absent}"))), "True/InvalidSecretRef");
  EXPECT_EQ(degraded(worldWith(use("phase: request-headers, config: {secret: token}"), {secret})),
            "True/InsecureCredential")
      << "the Backend has no TLS";
  const std::string elsewhere = with(secret, "name: token", "name: token, namespace: platform-secrets");
  const std::string reference = use("phase: request-headers, config: {secret: token, namespace: platform-secrets}");
  EXPECT_EQ(degraded(worldWith(reference, {elsewhere})), "True/RefNotPermitted");
  EXPECT_EQ(worldWith(reference, {elsewhere}).outcome(), "500");
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: "
      "platform-secrets}\nspec: {from: [{group: gateway.networking.k8s.io, kind: Backend, namespace: default}], to: "
      "[{group: '', kind: Secret}]}\n";
  EXPECT_EQ(degraded(worldWith(reference, {elsewhere, grant})), "True/InsecureCredential");
}

}  // namespace
}  // namespace sluice::routing
