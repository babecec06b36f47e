// Tests the proxy with which tests break connections to the API server: which connection is cut, at which byte, and how
// the client sees it.
#include "test/integration/support/kubernetes/fault_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"

namespace sluice::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSeasons =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: seasons}\ndata: {now: spring, next: "
    "summer}\n";
constexpr const char* kPath = "/api/v1/namespaces/default/configmaps/seasons";

class KubeFaults : public KubernetesTest {
 protected:
  static std::vector<std::string> raw(const std::string& path) { return {"get", "--raw", path}; }
};

TEST_F(KubeFaults, PassRequestsOnAndListThem) {
  const KubeApiServer server;
  FaultProxy proxy(server);
  const Kubectl kubectl(proxy.kubeconfig());
  kubectl.apply(kSeasons);
  EXPECT_EQ(kubectl.get("configmap", "default", "seasons", "{.data.now}"), "spring");
  EXPECT_THAT(proxy.requests(), Contains(std::string("GET ") + kPath));
  EXPECT_THAT(proxy.requests(), Contains(StartsWith(std::string("PATCH ") + kPath + "?")));
  EXPECT_TRUE(proxy.waitForRequests("User-Agent: kubectl", 2));
  EXPECT_TRUE(proxy.waitForAnswer(std::string("GET ") + kPath, "spring"));
  EXPECT_FALSE(proxy.waitForAnswer(kPath, "HTTP/1.1 410", std::chrono::milliseconds(0)));
  EXPECT_GE(proxy.connections(), 2u);
}

TEST_F(KubeFaults, CutAnAnswerAtAnyByteOrAfterAnyText) {
  const KubeApiServer server;
  FaultProxy proxy(server);
  const Kubectl kubectl(proxy.kubeconfig());
  kubectl.apply(kSeasons);
  proxy.cut({.after = "\"next\":\"su", .request = kPath});
  const ProgramOutcome broken = kubectl.run(raw(kPath));
  EXPECT_TRUE(proxy.waitForCuts(1));
  EXPECT_NE(broken.exitCode, 0);
  EXPECT_THAT(broken.errors, HasSubstr("unexpected EOF"));
  EXPECT_THAT(broken.output, Not(HasSubstr("summer")));
  // The status line alone arrives, and then nothing: the server's answer is never taken for a whole one.
  for (const CutEnding ending : {CutEnding::kClosed, CutEnding::kTlsClosed, CutEnding::kReset}) {
    proxy.cut({.bytes = 15, .request = kPath, .ending = ending});
    EXPECT_NE(kubectl.run(raw(kPath)).exitCode, 0);
  }
  EXPECT_TRUE(proxy.waitForCuts(4));
  EXPECT_THAT(kubectl.expect(raw(kPath)), HasSubstr("summer"));
}

TEST_F(KubeFaults, CutAWatchInsideOneOfItsEvents) {
  const KubeApiServer server;
  FaultProxy proxy(server);
  const Kubectl administrator(server.kubeconfig());
  administrator.apply(kSeasons);
  ChildProcess watch({kapiProgram("kubectl"), "--kubeconfig", proxy.kubeconfig(), "get", "--raw",
                      "/api/v1/namespaces/default/configmaps?watch=1"});
  EXPECT_TRUE(watch.waitForLine("spring"));
  proxy.cut({.after = "\"now\":\"aut", .request = "watch=1"});
  administrator.expect({"patch", "configmap", "seasons", "-p", "{\"data\":{\"now\":\"autumn\"}}"});
  EXPECT_TRUE(proxy.waitForCuts(1));
  watch.wait();
  EXPECT_THAT(watch.output(), EndsWith("\"now\":\"aut"));
  EXPECT_EQ(proxy.connections(), 1u);
}

TEST_F(KubeFaults, StallRefuseAndAnswerInTheServersPlace) {
  const KubeApiServer server;
  FaultProxy proxy(server);
  const Kubectl kubectl(proxy.kubeconfig());
  kubectl.apply(kSeasons);
  proxy.stall(kPath);
  EXPECT_THAT(kubectl.run({"get", "--raw", kPath, "--request-timeout", "1s"}).errors, HasSubstr("exceeded"));
  EXPECT_EQ(kubectl.run(raw("/readyz")).output, "ok");
  proxy.resume();
  proxy.refuse();
  EXPECT_THAT(kubectl.run(raw(kPath)).errors, HasSubstr("refused"));
  proxy.accept();
  proxy.answer({.request = kPath, .response = "HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nno way"});
  EXPECT_THAT(kubectl.run(raw(kPath)).errors, HasSubstr("no way"));
  EXPECT_THAT(kubectl.expect(raw(kPath)), HasSubstr("spring"));
}

TEST_F(KubeFaults, LeaveTlsAndTokensToTheServerIfATestWants) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "secret,reader,1\n");
  KubeApiServer server({"--token-auth-file", tokens});
  FaultProxy tls(server, FaultProxy::Layer::kTls);
  const Kubectl through(tls.kubeconfig());
  through.apply(kSeasons);
  EXPECT_THAT(tls.requests(), ElementsAre());
  tls.cut({.bytes = 500});
  EXPECT_NE(through.run(raw(kPath)).exitCode, 0);
  EXPECT_TRUE(tls.waitForCuts(1));
  server.stop();
  server.restart();
  EXPECT_THAT(through.expect(raw(kPath)), HasSubstr("spring"));

  const FaultProxy proxy(server, FaultProxy::Layer::kHttp, FaultProxy::User::kOfTheRequest);
  const auto as = [&](const std::string& token) {
    return Kubectl(folder.write("kubeconfig-" + token,
                                kubeconfigOf(proxy.url(), server.dataFolder() + "/ca.crt", "{token: " + token + "}")))
        .run({"auth", "whoami"});
  };
  EXPECT_THAT(as("secret").output, HasSubstr("reader"));
  EXPECT_NE(as("guessed").exitCode, 0);
}

}  // namespace
}  // namespace sluice::test
