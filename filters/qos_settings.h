// The settings of one use of QoSController.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filters/request_budget.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::filters {

/// The JSON Schema of the config.
extern const std::string_view kQosControllerSchema;

/// The clients that share a budget.
enum class QosKey : std::uint8_t {
  kOwner,  // all clients of the Backend that has the use
  kBackend,
  kNamespace,
  kServiceAccount,
  kPrincipal,
  kHeader
};

/// The allowance of one key, which replaces that of the use.
struct QosOverride {
  std::string key;
  Allowance allowance;
};

struct QosSettings {
  Allowance allowance;
  QosKey key = QosKey::kBackend;
  std::string header;                  // in lower case; empty unless `key` is kHeader
  std::vector<QosOverride> overrides;  // each key once
};

/// Reads a config that satisfies the schema. `ofBackend` is true if a Backend has the use. Errors have config's origin
/// and begin with the member.
base::Result<QosSettings> readQosSettings(const content::Value& config, bool ofBackend);

}  // namespace sluice::filters
