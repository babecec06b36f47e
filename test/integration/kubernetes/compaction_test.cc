// Tests a gateway whose API server has forgotten the versions from which its watches would go on: etcd was compacted,
// and the server answers with 410 (Expired).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/fault_proxy.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRoutesPath = "/apis/gateway.networking.k8s.io/v1/httproutes";
constexpr const char* kResumedWatch = "/httproutes?watch=true&allowWatchBookmarks=true&resourceVersion=";
constexpr const char* kStreamedList = "/httproutes?watch=true&allowWatchBookmarks=true&sendInitialEvents=true";
constexpr const char* kListInPages = "/httproutes?limit=250";
constexpr const char* kNextPage = "/httproutes?limit=250&continue=";

/// Returns the head of the next request about HTTPRoutes after one that the server has answered so; empty if there is
/// none.
std::string requestAfter(const FaultProxy& proxy, const std::string& request, const std::string& answer) {
  bool answered = false;
  for (const ProxiedExchange& each : proxy.exchanges()) {
    if (answered && each.head.find("/httproutes?") != std::string::npos) return each.head;
    answered =
        answered || (each.head.find(request) != std::string::npos && each.answer.find(answer) != std::string::npos);
  }
  return "";
}

/// Returns all requests about HTTPRoutes with the beginnings of their answers, for a test that fails.
std::string exchangesOf(const FaultProxy& proxy) {
  constexpr std::size_t kMost = 400;
  std::string text;
  for (const ProxiedExchange& each : proxy.exchanges()) {
    if (each.head.find("/httproutes?") == std::string::npos) continue;
    text += each.head.substr(0, each.head.find('\r')) + "\n" + each.answer.substr(0, kMost) + "\n";
  }
  return text;
}

class KubeCompaction : public KubeSourceTest {
 protected:
  void startCompactedServer() { startOwnServer({"--etcd-compaction-interval", "1s"}); }
  /// Objects that stay, and routes "changed" and "deleted" of which there are two for each round of a test.
  std::string basics() const {
    std::string objects = gateway() + external("one", one.port()) + external("two", two.port());
    objects += route("all", "/", toExternal("one"));
    for (const std::string round : {"-1", "-2"}) objects += changed(round, "one") + deleted(round);
    return objects;
  }
  static std::string changed(const std::string& round, const std::string& backend) {
    return route("changed" + round, "/changed" + round, toExternal(backend));
  }
  static std::string deleted(const std::string& round) {
    return route("deleted" + round, "/deleted" + round, toExternal("two"));
  }
  /// Changes one route, deletes another one, and adds a third one.
  void changeMeanwhile(const std::string& round) const {
    kubectl->apply(changed(round, "two") + route("added" + round, "/added" + round, toExternal("two")));
    kubectl->remove(deleted(round));
  }
  void expectChangesServed(const std::string& round) const {
    EXPECT_TRUE(answers("/changed" + round, "two"));
    EXPECT_TRUE(answers("/added" + round, "two"));
    EXPECT_TRUE(answers("/deleted" + round, "one")) << "that is the route for everything else";
  }
  /// Returns the first page of a list of now, with a token for the next one.
  std::string firstPage(int limit) const {
    return kubectl->expect({"get", "--raw", std::string(kRoutesPath) + "?limit=" + std::to_string(limit)});
  }
  /// Waits until the server has forgotten the version of a list with this page; after about 17 seconds, or at once if
  /// it was restarted and etcd is compacted.
  testing::AssertionResult isCompacted(const std::string& page) const {
    constexpr std::string_view kToken = "\"continue\":\"";
    const std::size_t begin = page.find(kToken) + kToken.size();
    const std::string token = page.substr(begin, page.find('"', begin) - begin);
    std::string last;
    const auto expired = [&] {
      letTimePass(std::chrono::milliseconds(200));  // each look is a process
      last = kubectl->run({"get", "--raw", std::string(kRoutesPath) + "?limit=1&continue=" + token}).errors;
      return last.find("too old") != std::string::npos;
    };
    if (eventually(expired)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "the token is still good: " << last << page.substr(0, 300);
  }
  /// Makes changes that the gateway does not see, because its watches hang, has etcd forget the versions before them,
  /// and restarts the server, so that it does not remember them either.
  void expireWatches(FaultProxy& proxy) {
    const std::string before = firstPage(1);
    proxy.stall();
    changeMeanwhile("-1");
    server->kill();
    server->restart();
    EXPECT_TRUE(isCompacted(before));
    EXPECT_EQ(ask("/changed-1"), "one");
    EXPECT_EQ(ask("/deleted-1"), "two");
    proxy.cutAll();
  }
};

TEST_F(KubeCompaction, OfTheVersionOfAWatchHasTheGatewayListAgain) {
  startCompactedServer();
  kubectl->apply(basics());
  FaultProxy proxy(*server);
  startGateway({}, proxy.kubeconfig());
  EXPECT_TRUE(answers("/changed-1", "one"));
  EXPECT_TRUE(answers("/deleted-1", "two"));
  SteadyTraffic traffic(port);
  expireWatches(proxy);
  proxy.resume();
  EXPECT_TRUE(proxy.waitForAnswer(kResumedWatch, "\"reason\":\"Expired\",\"code\":410")) << exchangesOf(proxy);
  expectChangesServed("-1");
  EXPECT_THAT(requestAfter(proxy, kResumedWatch, "\"code\":410"), HasSubstr(kStreamedList));
  // It goes on to watch.
  kubectl->apply(changed("-2", "two"));
  EXPECT_TRUE(answers("/changed-2", "two"));
  traffic.stop();
  EXPECT_EQ(traffic.failed(), 0);
  EXPECT_GT(traffic.answered(), 0);
}

TEST_F(KubeCompaction, OfTheVersionOfAListInPagesHasItBeginAgain) {
  startCompactedServer();
  kubectl->apply(basics());
  std::string many;
  for (int i = 0; i < 250; ++i) many += route("r-" + std::to_string(i), "/r", toExternal("one"));
  kubectl->create(many);
  FaultProxy proxy(*server);
  // A server that cannot stream lists answers so.
  proxy.answer({.request = kStreamedList, .response = "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}"});
  startGateway({}, proxy.kubeconfig());
  EXPECT_TRUE(answers("/changed-2", "one"));
  EXPECT_TRUE(answers("/deleted-2", "two"));
  EXPECT_TRUE(proxy.waitForRequests(kListInPages, 2)) << "a page, and the next one";
  SteadyTraffic traffic(port);
  // The server has forgotten the version of the new list's first page when the next page is requested.
  const std::string page = firstPage(250);
  expireWatches(proxy);
  proxy.answer({.request = kListInPages,
                .response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                            std::to_string(page.size()) + "\r\n\r\n" + page});
  changeMeanwhile("-2");
  EXPECT_EQ(ask("/changed-2"), "one");
  EXPECT_EQ(ask("/deleted-2"), "two");
  proxy.resume();
  EXPECT_TRUE(proxy.waitForAnswer(kResumedWatch, "\"code\":410")) << exchangesOf(proxy);
  EXPECT_TRUE(proxy.waitForAnswer(kNextPage, "HTTP/1.1 410 Gone"));
  expectChangesServed("-1");
  expectChangesServed("-2");
  EXPECT_THAT(requestAfter(proxy, kNextPage, "HTTP/1.1 410 Gone"),
              AllOf(HasSubstr(kListInPages), Not(HasSubstr(kNextPage))));
  traffic.stop();
  EXPECT_EQ(traffic.failed(), 0);
  EXPECT_GT(traffic.answered(), 0);
}

}  // namespace
}  // namespace sluice::test
