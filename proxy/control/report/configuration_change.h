// One difference between two configurations, as `sluice diff` prints it. A value; it contains no secrets.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::control {

/// One thing that is added, removed or changed.
struct ConfigurationChange {
  enum class Kind : std::uint8_t { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  /// "object", "listener", "backend", "settings", "policy" and "rule" of EgressPolicies, "verdict", or "problem": a
  /// condition, or what the time and the machine cause.
  std::string what;
  std::string name;    // "HTTPRoute demo/web", "127.0.0.1:8080", "demo/origin"
  std::string detail;  // the effect of the change; may be empty
};

}  // namespace sluice::control
