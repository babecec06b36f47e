// Tests how clients spread over the workers. Each worker keeps its own connections to a backend, so an origin that
// answers with the number of its connection identifies the worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

constexpr int kWorkers = 4;

/// Sends one request at a time, so every worker uses one connection.
class Workers : public testing::Test {
 protected:
  static RawOrigin::Script numbering() {
    return [](BlockingSocket& socket, RawOrigin& self) {
      const std::string number = std::to_string(self.connections());
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(number.size()) + "\r\n\r\n" + number;
      while (!self.readHead(socket).empty()) socket.send(answer);
    };
  }
  /// Returns the worker that serves a client.
  static std::string workerOf(BlockingSocket& client) {
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return readResponse(client).body;
  }
  static std::string workerOf(H2Client& client, std::uint32_t stream) {
    client.send(h2::headers(stream, h2::get(), true));
    return client.readStream(stream) ? client.seen().body(stream) : "";
  }

  RawOrigin origin_{numbering()};
  GatewayProcess gateway_{{.backends = {{.port = origin_.port()}}, .workers = kWorkers}};
};

TEST_F(Workers, ClientsSpreadEvenly) {
  std::vector<BlockingSocket> clients;
  std::map<std::string, int> served;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(BlockingSocket::connect(gateway_.port()));
    ++served[workerOf(clients.back())];
  }
  EXPECT_THAT(served, SizeIs(kWorkers));
  for (const auto& [worker, count] : served) EXPECT_LT(count, 4) << worker;
  EXPECT_EQ(origin_.connections(), kWorkers);
}

TEST_F(Workers, FewLongLivedHttp2ClientsSpreadEvenlyToo) {
  std::vector<std::unique_ptr<H2Client>> clients;
  std::map<std::string, int> served;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<H2Client>(gateway_.port()));
    ++served[workerOf(*clients.back(), 1)];
  }
  EXPECT_THAT(served, SizeIs(kWorkers));
  for (const auto& [worker, count] : served) EXPECT_LT(count, 4) << worker;
  for (auto& client : clients) EXPECT_THAT(served, testing::Contains(testing::Key(workerOf(*client, 3)))) << "it stays";
}

TEST_F(Workers, AWorkerWhoseClientsLeftGetsTheNextOnes) {
  std::map<std::string, std::vector<BlockingSocket>> clients;
  for (int i = 0; i < 2 * kWorkers; ++i) {
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    const std::string worker = workerOf(client);
    clients[worker].push_back(std::move(client));
  }
  const std::string emptied = clients.rbegin()->first;
  clients[emptied].clear();
  EXPECT_TRUE(eventually([&] {  // as soon as the gateway has noticed
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    return workerOf(client) == emptied;
  }));
}

TEST(WorkersTls, ATicketResumesOnEveryWorker) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .tls = issueServer(makeAuthority(), "listener.test"),
                                .workers = kWorkers});
  const TempDir folder;
  const std::string ticket = folder.path() + "/session.pem";
  const std::string connect = "127.0.0.1:" + std::to_string(gateway.tlsPort());
  // TLS 1.2 sends its ticket within the handshake, after which s_client exits at once.
  const ProgramOutcome first = run({"openssl", "s_client", "-connect", connect, "-tls1_2", "-sess_out", ticket});
  ASSERT_THAT(first.output, HasSubstr("New, TLSv1.2")) << first.errors;
  std::vector<BlockingSocket> others;
  for (int i = 0; i < 2 * kWorkers; ++i) {  // each client that stays sends the next one to another worker
    const ProgramOutcome again = run({"openssl", "s_client", "-connect", connect, "-tls1_2", "-sess_in", ticket});
    EXPECT_THAT(again.output, HasSubstr("Reused, TLSv1.2")) << again.errors;
    others.push_back(BlockingSocket::connect(gateway.tlsPort()));
  }
}

}  // namespace
}  // namespace sluice::test
