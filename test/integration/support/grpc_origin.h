// Runs a third-party gRPC server (grpc-js): with the service of clients/echo_service.mjs, or with that of another
// script.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"
#include "test/integration/support/node.h"
#include "test/support/test_pki.h"

namespace sluice::test {

class GrpcOrigin {
 public:
  /// Uses plaintext without an identity.
  explicit GrpcOrigin(const std::optional<CertifiedKey>& identity = std::nullopt,
                      const std::string& script = "grpc_origin.mjs") {
    std::vector<std::string> argv = {"node", std::string(kClients) + script};
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
