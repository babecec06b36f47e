// Tests the stories of users about refused configurations, as examples/kubernetes/README.md tells them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/revisions_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBadSettings = "workers: many";
constexpr const char* kGoodSettings =
    "workers: 1\n    dns: {hosts: {origin.test: [127.0.0.1]}}\n    addressGuard: {allow: [127.0.0.0/8]}";

class KubeRollbackStories : public KubeRevisions {
 protected:
  void startAnotherReplica(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"run", "--kubernetes", "--gateway", "demo/egress"};
    command.insert(command.end(), more.begin(), more.end());
    other = std::make_unique<ClusterProcess>(command, server->kubeconfig());
    ASSERT_TRUE(eventually([this] {
      return other->adminGet("/status").find(R"("state":"InSync")") != std::string::npos;
    })) << other->process().errors();
  }
  /// Starts a second replica that has an error of its own: a file that is no YAML.
  void startReplicaThatFails() {
    write("# nothing\n");
    startAnotherReplica({"--config", file_});
    write("{[\n");
    EXPECT_TRUE(isDegraded("SomeReplicasFailing"));
  }
  /// Replaces the file of that replica.
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  std::string degraded(const std::string& member) const {
    return kubectl->get("gateway", "demo", "egress", R"({.status.conditions[?(@.type=="Degraded")].)" + member + "}");
  }
  /// Waits until the Gateway has Degraded with this reason, which the README names; empty: until it has no Degraded.
  testing::AssertionResult isDegraded(const std::string& reason) const {
    const std::string page = readFile(SLUICE_SOURCE_DIR "/examples/kubernetes/README.md");
    if (page.find("`" + reason + "`") == std::string::npos && !reason.empty()) {
      return testing::AssertionFailure() << "the README does not name " << reason;
    }
    if (eventually([&] { return degraded("reason") == reason; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << degraded("reason") << ": " << degraded("message") << "\n"
                                       << controller->process().errors();
  }
  std::string gatewayAt(std::uint16_t place) const {
    std::string moved = gateway();
    const std::string was = "port: " + std::to_string(port);
    return moved.replace(moved.find(was), was.size(), "port: " + std::to_string(place));
  }
  static std::string askAt(std::uint16_t place) {
    BlockingSocket client = BlockingSocket::connect(place);
    if (!client.ok()) return "none";
    const ReceivedResponse answer = askRaw(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return answer.status == 200 ? answer.body : std::to_string(answer.status);
  }

  std::unique_ptr<ClusterProcess> other;

 private:
  TempDir folder_;
  const std::string file_ = folder_.write("more.yaml", "");
};

/// MARIN3R's walkthrough.
TEST_F(KubeRollbackStories, ABadConfigurationIsRolledBackAndTheNextGoodOneIsServed) {
  const std::string good = awaitRevisionIn("Served");
  // A missing Backend makes its own requests fail, and everything else moves on.
  const std::uint16_t second = freePort();
  kubectl->apply(gatewayAt(second) + route("all", "/", toExternal("missing")));
  EXPECT_TRUE(eventually([&] { return askAt(second) == "500"; })) << sluice->process().errors();
  EXPECT_TRUE(eventually([this] { return ask() == "none"; })) << "the old port is closed";
  EXPECT_TRUE(hasState("InSync")) << sluice->adminGet("/status");
  EXPECT_THAT(sluice->adminGet("/status"), HasSubstr("BackendNotFound"));
  kubectl->apply(routeToBackend("two"));
  EXPECT_TRUE(eventually([&] { return askAt(second) == "two"; }));

  // Settings that are refused take nothing into service.
  const std::uint16_t third = freePort();
  applySettings(kBadSettings);
  kubectl->apply(gatewayAt(third));
  EXPECT_TRUE(eventually([this] { return hasState("Rollback"); })) << sluice->adminGet("/status");
  EXPECT_TRUE(isDegraded("AllReplicasFailing"));
  EXPECT_EQ(askAt(second), "two");
  EXPECT_EQ(askAt(third), "none");

  applySettings(kGoodSettings);
  EXPECT_TRUE(eventually([&] { return askAt(third) == "two"; })) << sluice->process().errors();
  EXPECT_TRUE(eventually([this] { return hasState("InSync"); }));
  EXPECT_TRUE(isDegraded(""));
  EXPECT_EQ(fieldOf(good, "{.status.state}"), "Superseded");
}

TEST_F(KubeRollbackStories, AnErrorOfAllReplicasIsOneOfTheConfiguration) {
  startAnotherReplica();
  applySettings(kBadSettings);
  EXPECT_TRUE(isDegraded("AllReplicasFailing"));
  EXPECT_THAT(degraded("message"), HasSubstr("2 of 2 replicas fail"));
  EXPECT_THAT(fieldOf(awaitRevisionIn("Tainted"), R"({.status.conditions[?(@.type=="Tainted")].message})"),
              HasSubstr("workers"));
  EXPECT_EQ(ask(), "one");
}

TEST_F(KubeRollbackStories, AnErrorOfOneReplicaIsToldAndTaintsNothing) {
  startReplicaThatFails();
  EXPECT_THAT(degraded("message"), HasSubstr("1 of 2 replicas fail: "));
  EXPECT_EQ(revisionsIn("Tainted"), "");
  EXPECT_EQ(ask(), "one");
  // It tries again by itself when its cause has changed. Beside the first replica it cannot have the port.
  write("# nothing\n");
  EXPECT_TRUE(eventually([this] { return degraded("reason") == "ListenersNotValid"; })) << degraded("message");
}

TEST_F(KubeRollbackStories, AReplicaThatIsScaledAwayTakesItsErrorAlong) {
  startReplicaThatFails();
  other.reset();
  EXPECT_TRUE(isDegraded(""));
  EXPECT_EQ(ask(), "one");
}

TEST_F(KubeRollbackStories, AReplicaThatIsReplacedServesTheLastGoodConfiguration) {
  const std::string good = awaitRevisionIn("Served");
  applySettings(kBadSettings);
  ASSERT_NE(awaitRevisionIn("Tainted"), good);
  restart();
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(sluice->isReady());
  EXPECT_TRUE(eventually([&] { return fieldOf(good, "{.status.served}") == "1/1"; }));
  EXPECT_TRUE(isDegraded("AllReplicasFailing"));
  EXPECT_EQ(fieldOf(good, R"({.status.conditions[?(@.type=="ResourcesInSync")].reason})"), "NotDesired");
  EXPECT_EQ(fieldOf(good, R"({.status.conditions[?(@.type=="RollbackFailed")].status})"), "False");
}

}  // namespace
}  // namespace sluice::test
