// The parts that tests of EgressRevisions share: a controller, a replica of a Gateway, and queries of its revisions.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {

inline constexpr const char* kRolledBackStatus = R"({.status.conditions[?(@.type=="sluice.dev/RolledBack")].status})";

/// A controller, and a replica of Gateway demo/egress, whose route goes to `one`.
class KubeRevisions : public KubeSourceTest {
 protected:
  void SetUp() override {
    KubeSourceTest::SetUp();
    if (IsSkipped()) return;
    startServer(InstalledKinds::kGatewayApiAndOurs);
    kubectl->apply(gateway() + external("one", one.port()) + external("two", two.port()) + routeToBackend("one"));
    controller = std::make_unique<ClusterProcess>(std::vector<std::string>{"controller"}, server->kubeconfig());
    controller->waitUntilItLeads();
    startGateway({"--gateway", "demo/egress"});
    ASSERT_TRUE(answers("/", "one"));
  }
  static std::string routeToBackend(const std::string& backend) { return route("all", "/", toExternal(backend)); }
  /// Returns the names of the EgressRevisions in a state, each with a blank after it.
  std::string revisionsIn(const std::string& state) const {
    return kubectl->expect({"get", "egressrevisions", "--namespace", "demo", "-o",
                            R"(jsonpath={range .items[?(@.status.state==")" + state + R"(")]}{.metadata.name} {end})"});
  }
  /// Waits until exactly one is in that state, and returns its name.
  std::string awaitRevisionIn(const std::string& state) const {
    std::string names;
    const auto isOne = [&] {
      names = revisionsIn(state);
      return !names.empty() && names.find(' ') == names.size() - 1;
    };
    EXPECT_TRUE(eventually(isOne)) << state << ": '" << names << "'\n" << controller->process().errors();
    return names.substr(0, names.find(' '));
  }
  std::string fieldOf(const std::string& revision, const std::string& path) const {
    return kubectl->get("egressrevision", "demo", revision, path);
  }
  /// Gives the class these settings and no others.
  void applySettings(const std::string& text) const {
    kubectl->apply(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n  settings.yaml: |\n   "
        " " +
        text + "\n");
  }
  /// Replaces the replica by one that knows nothing.
  void restart(const std::vector<std::string>& more = {}) {
    sluice.reset();
    std::vector<std::string> options = {"--gateway", "demo/egress"};
    options.insert(options.end(), more.begin(), more.end());
    startGateway(options);
  }
  bool hasState(const std::string& state) const {
    return sluice->adminGet("/status").find("\"state\":\"" + state + "\"") != std::string::npos;
  }
  ProgramOutcome rollBack(std::vector<std::string> more = {}) const {
    std::vector<std::string> command = {"revisions",   "rollback",     "--gateway",
                                        "demo/egress", "--kubeconfig", server->kubeconfig()};
    command.insert(command.end(), more.begin(), more.end());
    return test::sluice(command);
  }

  std::unique_ptr<ClusterProcess> controller;
};

}  // namespace sluice::test
