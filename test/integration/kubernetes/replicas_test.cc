// Tests a controller and two replicas of one Gateway with a real API server: reports of the replicas become conditions
// of routes, and faults become Event objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProgrammedStatus =
    R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].status})";
constexpr const char* kProgrammedReason =
    R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].reason})";
constexpr const char* kProgrammedMessage =
    R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].message})";
constexpr const char* kProgrammedGeneration =
    R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].observedGeneration})";

class KubeReplicas : public KubeSourceTest {
 protected:
  void startController() {
    controller = std::make_unique<ChildProcess>(std::vector<std::string>{
        programPath("sluice"), "controller", "--kubeconfig", server->kubeconfig(), "--admin",
        "127.0.0.1:" + std::to_string(freePort()), "--health", "127.0.0.1:" + std::to_string(freePort())});
    EXPECT_TRUE(controller->waitForLine("this controller leads")) << controller->errors();
  }
  std::unique_ptr<GatewayProcess> startReplica(const std::string& pod) const {
    GatewaySpec spec;
    spec.files = false;
    spec.waitFor = Started::kLive;
    spec.options = {"--kubernetes", "--kubeconfig", server->kubeconfig(), "--gateway", "demo/egress"};
    spec.environment = {"POD_NAME=" + pod};
    return std::make_unique<GatewayProcess>(spec);
  }
  /// Waits until all replicas serve this generation of route "all".
  bool isProgrammed(const std::string& generation) const {
    return kubectl->waitFor("httproute", "demo", "all", kProgrammedGeneration, generation) &&
           kubectl->waitFor("httproute", "demo", "all", kProgrammedStatus, "True");
  }
  std::string leases() const {
    return kubectl->expect({"get", "leases", "-A", "-l", "sluice.dev/replica-of=demo.egress", "-o", "name"});
  }
  void TearDown() override {
    if (controller == nullptr) return;
    controller->signal(SIGTERM);
    EXPECT_EQ(controller->wait(), 0) << controller->errors();
  }

  std::unique_ptr<ChildProcess> controller;
};

TEST_F(KubeReplicas, AreAwaitedByTheirRoutesAndForgottenWhenTheyLeave) {
  startServer();
  kubectl->apply(gateway() + external("far", one.port()) + route("all", "/", toExternal("far")));
  startController();
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "all", kProgrammedReason, "NoReplicas"));
  std::unique_ptr<GatewayProcess> first = startReplica("pod-1");
  EXPECT_TRUE(isProgrammed("1")) << first->process().errors();

  // The controller waits for a replica that is stopped.
  first->process().signal(SIGSTOP);
  kubectl->apply(route("all", "/new", toExternal("far")));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "all", kProgrammedReason, "Pending"));
  first->process().signal(SIGCONT);
  EXPECT_TRUE(isProgrammed("2")) << first->process().errors();

  // The first one has the port, so the second one cannot serve the route.
  std::unique_ptr<GatewayProcess> second = startReplica("pod-2");
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "all", kProgrammedReason, "SomeReplicasFailing"));
  EXPECT_THAT(kubectl->get("httproute", "demo", "all", kProgrammedMessage),
              AllOf(HasSubstr("1 of 2 replicas fail: 1 of another namespace"), Not(HasSubstr("pod-2"))))
      << "the replicas stand beside the controller";
  second.reset();
  EXPECT_THAT(leases(), AllOf(HasSubstr("sluice-replica-pod-1"), Not(HasSubstr("sluice-replica-pod-2"))));
  EXPECT_TRUE(isProgrammed("2")) << "the replica that has left does not count";
}

TEST_F(KubeReplicas, HaveAWarningAboutARouteAsAnEventObjectOnIt) {
  startServer();
  kubectl->apply(gateway() + external("far", one.port()) +
                 route("bad", "/", toExternal("far"),
                       ", filters: [{type: ExtensionRef, extensionRef: {group: acme.test, kind: Nobody, name: x}}]"));
  startController();
  std::string events;
  const auto hasEvent = [&] {
    events = kubectl->expect({"get", "events.events.k8s.io", "-n", "demo", "-o", "json"});
    return events.find("\"NotFullyServed\"") != std::string::npos;
  };
  ASSERT_TRUE(eventually(hasEvent)) << controller->errors();
  EXPECT_THAT(events, HasSubstr(R"("type": "Warning")"));
  EXPECT_THAT(events, HasSubstr(R"("reportingController": "sluice.dev/egress-gateway")"));
  EXPECT_THAT(events, HasSubstr(R"("kind": "HTTPRoute")"));
  EXPECT_THAT(events, HasSubstr(R"("uid": ")" + kubectl->get("httproute", "demo", "bad", "{.metadata.uid}") + "\""));
}

}  // namespace
}  // namespace sluice::test
