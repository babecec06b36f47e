// Runs a server of test/integration/clients with Node.js.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"
#include "test/integration/support/node/node.h"
#include "test/support/test_pki.h"

namespace sluice::test {

class NodeOrigin {
 public:
  /// Returns when the script listens. It gets the files of an identity, and otherwise uses plaintext.
  explicit NodeOrigin(const std::string& script, const std::optional<CertifiedKey>& identity = std::nullopt) {
    std::vector<std::string> argv = {"node", kClients + script};
    if (identity) {
      argv.push_back(folder_.write("origin.crt", identity->certificate));
      argv.push_back(folder_.write("origin.key", identity->key));
    }
    process_ = std::make_unique<ChildProcess>(argv);
    const auto line = process_->waitForLine("listening on ");
    EXPECT_TRUE(line) << process_->errors();
    if (line) port_ = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  }
  std::uint16_t port() const { return port_; }
  ChildProcess& process() { return *process_; }

 private:
  TempDir folder_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
};

}  // namespace sluice::test
