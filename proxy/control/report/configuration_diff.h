// Compares two configurations: `sluice diff` prints the changes that would follow if a process that serves one got the
// other.
//
// A value, made from two compiled configurations; it contains no secrets.
#pragma once

#include <string>
#include <vector>

#include "proxy/content/output/output.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::control {

/// One thing that is added, removed or changed.
struct ConfigurationChange {
  enum class Kind : std::uint8_t { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  std::string what;    // "object", "listener", "backend", "settings", or "problem": a condition
  std::string name;    // "HTTPRoute demo/web", "127.0.0.1:8080", "demo/origin"
  std::string detail;  // the effect of the change; may be empty
};

/// Returns the changes from `before`, which is served, to `after`, which was made with `before` as its previous
/// configuration. Ordered by `what`.
std::vector<ConfigurationChange> changesOf(const CompiledConfiguration& before, const CompiledConfiguration& after);

/// The text has one line for each change, and one that sums up. The value is a list of {"change", "what", "name",
/// "detail"}.
content::Output changesOutput(const std::vector<ConfigurationChange>& changes);

}  // namespace sluice::control
