#include "test/integration/support/kubernetes/cluster_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <utility>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"

namespace sluice::test {
namespace {

std::vector<std::string> commandLine(std::vector<std::string> startedBy, std::vector<std::string> command,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> argv = std::move(startedBy);
  argv.push_back(programPath("sluice"));
  argv.insert(argv.end(), command.begin(), command.end());
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

}  // namespace

ClusterProcess::ClusterProcess(std::vector<std::string> command, const std::string& kubeconfig,
                               std::vector<std::string> startedBy)
    : process_(commandLine(std::move(startedBy), std::move(command),
                           {"--kubeconfig", kubeconfig, "--admin", "127.0.0.1:" + std::to_string(adminPort_),
                            "--health", "127.0.0.1:" + std::to_string(healthPort_)})) {}

ClusterProcess::~ClusterProcess() {
  if (!over_) stop();
}

void ClusterProcess::stop() {
  over_ = true;
  process_.signal(SIGTERM);
  EXPECT_EQ(process_.wait(), 0) << process_.output() << process_.errors();
}

void ClusterProcess::kill() {
  over_ = true;
  process_.signal(SIGKILL);
  process_.wait();
}

void ClusterProcess::waitUntilItLeads() {
  EXPECT_TRUE(process_.waitForLine(kLeads).has_value()) << process_.output() << process_.errors();
}

std::string ClusterProcess::adminGet(const std::string& target) const {
  if (!waitForPort(adminPort_)) return "";
  BlockingSocket socket = BlockingSocket::connect(adminPort_);
  socket.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const auto response = readResponse(socket);
  return response.status == 200 ? response.body : "";
}

}  // namespace sluice::test
