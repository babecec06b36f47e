// Tests /exchanges while real requests wait for a real origin, on several workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kExchangeWorkers = 3;

class ListedExchanges : public testing::Test {
 protected:
  /// Answers "/begun" with a head and the first bytes of a body, and never answers anything else.
  static RawOrigin::Script hanging() {
    return [](BlockingSocket& socket, RawOrigin& self) {
      const std::string head = self.readHead(socket);
      if (head.starts_with("GET /begun")) socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello");
      self.waitUntilItStops();
    };
  }
  std::string list() const { return gateway_.adminGet("/exchanges"); }
  bool lists(const std::string& part) const {
    return eventually([&] { return list().find(part) != std::string::npos; });
  }
  BlockingSocket begin(const std::string& target, const std::string& more = {}) const {
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    client.send("GET " + target + " HTTP/1.1\r\nHost: a.test\r\n" + more + "\r\n");
    return client;
  }

  RawOrigin origin_{hanging()};
  GatewayProcess gateway_{
      {.backends = {{.port = origin_.port()}}, .settings = "drainTimeout: 1s\n", .workers = kExchangeWorkers}};
};

TEST_F(ListedExchanges, HaveTheirStatesWhileTheyLast) {
  EXPECT_EQ(list(), R"({"exchanges":[],"total":0,"truncated":false,"silentWorkers":[]})");
  BlockingSocket waiting = begin("/waiting?key=canary", "Authorization: Bearer canary\r\n");
  ASSERT_TRUE(lists(R"("requestState":"sent","responseState":"waiting")"));
  BlockingSocket begun = begin("/begun");
  begun.readUntil("hello");
  ASSERT_TRUE(lists(R"("responseState":"streaming")"));
  const std::string all = list();
  for (const std::string& part :
       {std::string(R"("method":"GET","authority":"a.test","path":"/waiting","protocolVersion":"1.1")"),
        std::string(R"("gateway":"test/egress","listener":"http","route":"test/all","backend":"test/origin")"),
        R"("upstreamAddress":"127.0.0.1:)" + std::to_string(origin_.port()) + R"(","attempts":1)",
        std::string(R"("requestBytes":0,"responseBytes":5)"), std::string(R"("total":2,"truncated":false)")}) {
    EXPECT_THAT(all, HasSubstr(part));
  }
  EXPECT_THAT(all, Not(HasSubstr("canary")));
  EXPECT_LT(all.find("/waiting"), all.find("/begun")) << "the oldest comes first";
  waiting.reset();
  begun.reset();
  EXPECT_TRUE(lists(R"("exchanges":[],"total":0)"));
}

TEST_F(ListedExchanges, ComeFromEveryWorker) {
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 2 * kExchangeWorkers; ++i) clients.push_back(begin("/waiting"));
  ASSERT_TRUE(lists("\"total\":" + std::to_string(2 * kExchangeWorkers)));
  const std::string all = list();
  for (int worker = 0; worker < kExchangeWorkers; ++worker)
    EXPECT_THAT(all, HasSubstr("{\"worker\":" + std::to_string(worker) + ","));
}

TEST_F(ListedExchanges, IncludeEachStreamOfAnHttp2Connection) {
  H2Client client(gateway_.port());
  for (const std::uint32_t stream : {1u, 3u, 5u}) client.send(h2::headers(stream, h2::get("/waiting"), true));
  ASSERT_TRUE(lists(R"("total":3)"));
  const std::string all = list();
  EXPECT_THAT(all, HasSubstr(R"("authority":"example.com","path":"/waiting","protocolVersion":"2")"));
  std::set<std::string> ids;
  for (std::size_t at = all.find("\"id\":"); at != std::string::npos; at = all.find("\"id\":", at + 1))
    ids.insert(all.substr(at, all.find(',', at) - at));
  EXPECT_EQ(ids.size(), 3u);
}

TEST_F(ListedExchanges, AreShownWhileTheGatewayDrains) {
  BlockingSocket waiting = begin("/waiting");
  ASSERT_TRUE(lists(R"("total":1)"));
  gateway_.beginToDrain();
  EXPECT_THAT(list(), HasSubstr(R"("total":1)"));
}

TEST_F(ListedExchanges, DoNotDelayShutdownWhenAskedForAtItsStart) {
  std::vector<BlockingSocket> askers;
  for (int i = 0; i < 10; ++i) {
    askers.push_back(BlockingSocket::connect(gateway_.adminPort()));
    askers.back().send("GET /exchanges HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  gateway_.process().signal(SIGTERM);
  for (BlockingSocket& asker : askers) {
    asker.readAll();
    EXPECT_TRUE(asker.closed());
  }
  EXPECT_EQ(gateway_.process().wait(), 0);
}

}  // namespace
}  // namespace sluice::test
