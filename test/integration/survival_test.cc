// Tests that the gateway continues to serve when it has no descriptors left, the disk is full, or its log is not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

ReceivedResponse askAndClose(std::uint16_t port, const std::string& target = "/") {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return readResponse(client);
}

bool serves(const GatewayProcess& gateway) { return askAndClose(gateway.port()).status == 200; }

/// Returns true if each of the process' threads waits for something. A spinning thread never does, however little CPU
/// it gets on a busy machine.
bool sleeps(pid_t pid) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const std::string stat = readFile(thread.path().string() + "/stat");
    if (stat.substr(stat.rfind(')') + 2, 1) != "S") return false;
  }
  return true;
}

class Descriptors : public testing::Test {
 protected:
  static std::vector<std::string> atMost(int count) {
    return {"prlimit", "--nofile=" + std::to_string(count) + ":" + std::to_string(count)};
  }
  static std::vector<BlockingSocket> connect(std::uint16_t port, int count) {
    std::vector<BlockingSocket> clients;
    for (int i = 0; i < count; ++i) clients.push_back(BlockingSocket::connect(port));
    return clients;
  }

  RawOrigin origin_{RawOrigin::answering(kOk)};
};

TEST_F(Descriptors, AreLeftByClientsToBackendsAndToOperators) {
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}}, .startedBy = atMost(256)});
  BlockingSocket early = BlockingSocket::connect(gateway.port());
  std::vector<BlockingSocket> idle = connect(gateway.port(), 400);
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"connections\"}", 200)) << "so the admin port answers";
  EXPECT_EQ(askAndClose(gateway.healthPort(), "/readyz").status, 200);
  early.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(readResponse(early).status, 200) << "earlier clients are still served";
  idle.clear();
  EXPECT_TRUE(eventually([&] { return serves(gateway); })) << "there is room again";
}

TEST_F(Descriptors, AreDividedHoweverFewThereAre) {
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}}, .startedBy = atMost(64)});
  BlockingSocket first = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(first).status, 200);
  std::vector<BlockingSocket> clients = connect(gateway.port(), 100);
  std::vector<BlockingSocket> probes = connect(gateway.healthPort(), 100);
  EXPECT_EQ(askRaw(first).status, 200);
  EXPECT_EQ(askAndClose(gateway.healthPort(), "/readyz").status, 200);
  clients.clear();
  EXPECT_TRUE(eventually([&] { return serves(gateway); }));
}

TEST_F(Descriptors, AreAwaitedWithoutSpinning) {
  GatewayProcess gateway({.backends = {{.port = origin_.port()}}});
  const pid_t pid = gateway.process().pid();
  BlockingSocket first = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(first).status, 200);
  rlimit before{};
  ASSERT_EQ(prlimit(pid, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit scarce{3, before.rlim_max};
  ASSERT_EQ(prlimit(pid, RLIMIT_NOFILE, &scarce, nullptr), 0);
  std::vector<BlockingSocket> clients = connect(gateway.port(), 10);
  std::vector<BlockingSocket> probes = connect(gateway.healthPort(), 10);
  EXPECT_EQ(askRaw(first).status, 200) << "open connections go on";
  int asleep = 0;
  EXPECT_TRUE(eventually([&] { return (asleep = sleeps(pid) ? asleep + 1 : 0) == 10; })) << "ten times in a row";
  ASSERT_EQ(prlimit(pid, RLIMIT_NOFILE, &before, nullptr), 0);
  clients.back().send(kGet);
  EXPECT_EQ(readResponse(clients.back()).status, 200);
  EXPECT_EQ(askAndClose(gateway.healthPort(), "/readyz").status, 200);
}

TEST(FullDisk, LosesLinesOfTheAccessLogAndReportsItOnce) {
  RawOrigin origin(RawOrigin::answering(kOk));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .accessLog = "/dev/full"});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(serves(gateway));
  EXPECT_TRUE(gateway.process().waitForLine("access log lines are being lost"));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(serves(gateway));
}

/// Returns every line of the file; each whole line must be a JSON object from brace to brace.
std::vector<std::string> linesOf(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(FullDisk, LeavesEveryLineWholeOnceThereIsSpaceAgain) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const TempDir folder;
  const std::string path = folder.path() + "/access.log";
  // The bound on every file that it writes ends a process by a signal, unless it ignores that.
  GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .accessLog = path, .startedBy = {"prlimit", "--fsize=1000:unlimited"}});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(serves(gateway));
  ASSERT_TRUE(gateway.process().waitForLine("access log lines are being lost"));
  const std::vector<std::string> torn = linesOf(path);
  ASSERT_FALSE(torn.empty());
  EXPECT_FALSE(torn.back().ends_with("}")) << "in the middle of a line";

  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(prlimit(gateway.process().pid(), RLIMIT_FSIZE, &unlimited, nullptr), 0);
  EXPECT_TRUE(serves(gateway));
  const auto told = gateway.process().waitForLine("the access log accepts lines again");
  ASSERT_TRUE(told);
  EXPECT_THAT(*told, HasSubstr("\"lost\":"));
  const std::vector<std::string> lines = linesOf(path);
  EXPECT_GT(lines.size(), torn.size());
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with("{\"time\":") && line.ends_with("}")) << line;
    EXPECT_EQ(line.find("{\"time\":", 1), std::string::npos) << line;
  }
}

TEST(BrokenPipe, OnTheAccessLogDoesNotEndTheProcess) {
  RawOrigin origin(RawOrigin::answering(kOk));
  GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .startedBy = {"bash", "-c", "exec \"$@\" > >(head -n 1)", "bash"}});
  EXPECT_TRUE(serves(gateway));
  // One line goes to the reader, which then exits, and some later ones find it gone.
  EXPECT_TRUE(eventually([&] {
    return serves(gateway) && gateway.process().errors().find("access log lines are being lost") != std::string::npos;
  }));
  EXPECT_TRUE(serves(gateway));
}

TEST(BrokenPipe, OnTheProcessLogDoesNotEndTheProcess) {
  RawOrigin origin(RawOrigin::answering(kOk));
  for (const char* redirection : {"2>&-", "2> >(true)", ">&- 2>&-"}) {
    SCOPED_TRACE(redirection);
    const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                  .options = {"--log-level", "trace"},
                                  .startedBy = {"bash", "-c", "exec \"$@\" " + std::string(redirection), "bash"}});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(serves(gateway));
  }
}

}  // namespace
}  // namespace sluice::test
