// Runs a third-party gRPC server (grpc-js): with the service of clients/echo_service.mjs, or with that of another
// script.
#pragma once

#include <optional>
#include <string>

#include "test/integration/support/node/node_origin.h"

namespace sluice::test {

class GrpcOrigin : public NodeOrigin {
 public:
  /// Uses plaintext without an identity.
  explicit GrpcOrigin(const std::optional<CertifiedKey>& identity = std::nullopt,
                      const std::string& script = "grpc_origin.mjs")
      : NodeOrigin(script, identity) {}
};

}  // namespace sluice::test
