// A BackendTLSPolicy of Gateway API configures TLS to Services, which have no TLS settings of their own, and to
// Backends. These are plain values; see model.h.
#pragma once

#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/backend_tls.h"
#include "config/model/policy_model.h"

namespace sluice::config {

/// It targets Services and Backends, and ports of these.
struct BackendTlsPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "BackendTLSPolicy";
  ObjectMeta meta;
  /// The values of `validation` and `options`. The server's name is always set, and the path is "spec".
  BackendTls tls;
  std::vector<UnsupportedField> unsupported;
};

}  // namespace sluice::config
