// Runs the external processor of clients/ext_proc_server.mjs, on grpc-js, which a test may stop and start again at the
// same port.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"
#include "test/integration/support/node/node.h"
#include "test/support/held_port.h"
#include "test/support/test_pki.h"

namespace sluice::test {

class ExtProcServer {
 public:
  /// Uses plaintext without an identity.
  explicit ExtProcServer(const std::optional<CertifiedKey>& identity = std::nullopt) {
    if (identity) {
      identity_.push_back(folder_.write("server.crt", identity->certificate));
      identity_.push_back(folder_.write("server.key", identity->key));
    }
    start();
  }

  std::uint16_t port() const { return port_.port(); }
  /// Kills it, and returns when its port refuses connections.
  void stop() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  void start() {
    std::vector<std::string> argv = {"node", std::string(kClients) + "ext_proc_server.mjs", std::to_string(port())};
    argv.insert(argv.end(), identity_.begin(), identity_.end());
    process_ = std::make_unique<ChildProcess>(argv);
    EXPECT_TRUE(process_->waitForLine("listening on ")) << process_->errors();
  }
  /// Waits until `what` occurs this often in the lines "heard ..." of streams that have ended.
  bool hasHeard(const std::string& what, std::size_t times = 1) { return process_->waitUntilSaid(what, times); }
  /// Returns how often it occurs there now.
  std::size_t heard(const std::string& what) const { return process_->said(what); }

 private:
  TempDir folder_;
  std::vector<std::string> identity_;
  std::unique_ptr<ChildProcess> process_;
  const HeldPort port_;  // it stays reserved while the server is stopped
};

}  // namespace sluice::test
