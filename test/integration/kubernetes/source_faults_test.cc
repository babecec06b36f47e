// Tests a gateway whose API server is unreachable, is replaced, cuts its watches, or sends changes faster than they can
// be compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/fault_proxy.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class KubeSourceFaults : public KubeSourceTest {
 protected:
  void applyBasics() { kubectl->apply(gateway() + external("far", one.port()) + route("all", "/", toExternal("far"))); }
  /// Lets the route lead to one origin or the other.
  void point(bool second) { kubectl->apply(external("far", second ? two.port() : one.port())); }
};

TEST_F(KubeSourceFaults, DoNotDisturbTrafficWhileTheServerIsAwayAndAfterIt) {
  startOwnServer();
  applyBasics();
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  SteadyTraffic traffic(port);
  for (const bool second : {true, false}) {
    server->kill();
    EXPECT_TRUE(sluice->process().waitUntilSaid("the API server fails", second ? 1 : 2));
    EXPECT_EQ(ask(), second ? "one" : "two");
    server->restart();
    point(second);
    EXPECT_TRUE(answers("/", second ? "two" : "one"));
    EXPECT_TRUE(sluice->process().waitUntilSaid("answers again", second ? 1 : 2));
  }
  // A restarted server answers earlier watches with 410.
  server->kill();
  server->restart();
  for (int i = 0; i < 3; ++i) point(i % 2 == 0);
  EXPECT_TRUE(answers("/", "two"));
  traffic.stop();
  EXPECT_EQ(traffic.failed(), 0);
}

TEST_F(KubeSourceFaults, LetTheGatewayStartFromItsLastGoodRevision) {
  const TempDir state;
  startOwnServer();
  applyBasics();
  startGateway({"--state-dir", state.path()});
  EXPECT_TRUE(answers("/", "one"));
  const auto kept = [&] { return sluice->adminGet("/revisions").find("\"served\":") != std::string::npos; };
  EXPECT_TRUE(eventually(kept)) << "before that, there is no good configuration on disk";
  sluice->kill();
  server->kill();
  sluice->startAgain();
  EXPECT_TRUE(answers("/", "one"));
  server->restart();
  point(true);
  EXPECT_TRUE(answers("/", "two"));
}

TEST_F(KubeSourceFaults, EndInTheSameStateWhereverWatchesAreCut) {
  startServer();
  applyBasics();
  FaultProxy proxy(*server);
  startGateway({}, proxy.kubeconfig());
  EXPECT_TRUE(answers("/", "one"));
  SteadyTraffic traffic(port);
  std::size_t cuts = 0;
  constexpr CutEnding kEndings[] = {CutEnding::kClosed, CutEnding::kTlsClosed, CutEnding::kReset};
  for (const std::size_t bytes : {1, 2, 3, 5, 8, 13, 21, 34, 64}) {
    proxy.cut({.bytes = bytes, .request = "xbackends", .ending = kEndings[cuts % 3]});
    point(++cuts % 2 == 1);
    EXPECT_TRUE(proxy.waitForCuts(cuts)) << bytes;
    EXPECT_TRUE(answers("/", cuts % 2 == 1 ? "two" : "one")) << bytes;
  }
  // Inside a name of a member, after the head of its chunk.
  proxy.cut({.after = "\"externalHostname\":{\"hostn", .request = "xbackends"});
  point(false);
  EXPECT_TRUE(proxy.waitForCuts(++cuts));
  EXPECT_TRUE(answers("/", "one"));
  kubectl->remove(route("all", "/", toExternal("far")));
  EXPECT_TRUE(answers("/", "404"));
  traffic.stop();
  kubectl->apply(route("all", "/", toExternal("far")));
  proxy.cutAll();
  point(true);
  EXPECT_TRUE(answers("/", "two"));
}

/// As a server does that has just started: it lists its definitions before it serves their kinds.
TEST_F(KubeSourceFaults, AreOverOnceAServerFindsTheKindsThatItHas) {
  startServer();
  applyBasics();
  FaultProxy proxy(*server);
  constexpr const char* kNotFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}";
  // Each version is requested at the start, and again when the definitions are known.
  proxy.answer({.request = "/xbackends?", .response = kNotFound, .times = 2});
  startGateway({}, proxy.kubeconfig());
  EXPECT_TRUE(sluice->process().waitForLine("the API server does not have these kinds"));
  EXPECT_TRUE(answers("/", "one"));
}

TEST_F(KubeSourceFaults, AreOverOnceTheTokenFileHasTheNewToken) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "old-token,gateway,1\n");
  const std::string token = folder.write("token", "old-token");
  startOwnServer({"--token-auth-file", tokens});
  applyBasics();
  startGateway({}, folder.write("kubeconfig", kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt",
                                                           "{tokenFile: \"" + token + "\"}")));
  EXPECT_TRUE(answers("/", "one"));
  server->kill();
  folder.write("tokens", "new-token,gateway,1\n");
  server->restart();
  point(true);
  EXPECT_TRUE(sluice->process().waitForLine("HTTP status 401"));
  EXPECT_EQ(ask(), "one");
  folder.write("token", "new-token");
  EXPECT_TRUE(answers("/", "two"));
  EXPECT_EQ(logged("old-token") + logged("new-token"), 0u);
}

TEST_F(KubeSourceFaults, AreOverOnceTheNewAuthorityIsTrusted) {
  startOwnServer();
  applyBasics();
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  const std::string before = readFile(server->dataFolder() + "/ca.crt");
  server->kill();
  for (const auto& entry : std::filesystem::directory_iterator(server->dataFolder())) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".crt" || extension == ".key") std::filesystem::remove(entry.path());
  }
  server->restart();
  ASSERT_NE(readFile(server->dataFolder() + "/ca.crt"), before);
  point(true);
  EXPECT_TRUE(answers("/", "two"));
}

TEST_F(KubeSourceFaults, CompileAThousandChangesInASecondATwentyTimesAtMost) {
  startServer();
  constexpr int kRoutes = 100;
  constexpr int kChanges = 1000;
  std::string objects = gateway() + external("far", one.port());
  for (int i = 0; i < kRoutes; ++i) {
    const std::string number = std::to_string(i);
    objects += route("r-" + number, "/" + number + "/", toExternal("far"));
  }
  kubectl->apply(objects);
  startGateway();
  EXPECT_TRUE(answers("/99/", "one"));
  const TempDir folder;
  std::ofstream commands(folder.path() + "/commands");
  const std::string data = server->dataFolder();
  for (int i = 0; i < kChanges; ++i) {
    commands
        << (i == 0 ? "" : "next\n") << "url = \"" << server->url()
        << "/apis/gateway.networking.k8s.io/v1/namespaces/demo/httproutes/r-" << i % kRoutes << "\"\ncert = \"" << data
        << "/admin.crt\"\nkey = \"" << data << "/admin.key\"\ncacert = \"" << data
        << "/ca.crt\"\nrequest = PATCH\nheader = \"Content-Type: application/merge-patch+json\"\noutput = /dev/null\n"
        << "data = \"{\\\"spec\\\":{\\\"hostnames\\\":[\\\"h" << i << ".test\\\"]}}\"\n";
  }
  commands.close();
  const std::string series = "sluice_config_reloads_total{result=\"success\"}";
  const double before = sluice->metric(series);
  const auto begun = std::chrono::steady_clock::now();
  const ProgramOutcome patched =
      run({"curl", "-sS", "--fail", "-Z", "--parallel-max", "40", "-K", folder.path() + "/commands"});
  ASSERT_EQ(patched.exitCode, 0) << patched.errors;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  kubectl->apply(route("last", "/last/", toExternal("far")));
  EXPECT_TRUE(answers("/last/", "one"));
  const double compiled = sluice->metric(series) - before;
  RecordProperty("seconds", std::to_string(seconds));
  RecordProperty("compiled", std::to_string(compiled));
  // Twenty for each second that the changes took, which is one on an idle machine.
  EXPECT_LE(compiled, 20 * std::max(1.0, seconds) + 2);
  EXPECT_GE(compiled, 1);
}

}  // namespace
}  // namespace sluice::test
