// Compares two configurations: `sluice diff` prints the changes that would follow if a process that serves one got the
// other.
//
// A value, made from two compiled configurations; it contains no secrets.
#pragma once

#include <vector>

#include "proxy/content/output/output.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/configuration_change.h"

namespace sluice::control {

/// Returns the changes from `before`, which is served, to `after`, which was made with `before` as its previous
/// configuration. Those of one `what` are together.
std::vector<ConfigurationChange> changesOf(const CompiledConfiguration& before, const CompiledConfiguration& after);

/// Adds the differences between the problems that the time and the machine cause (surroundings.h).
void addProblemChanges(const config::Problems& before, const config::Problems& after,
                       std::vector<ConfigurationChange>& changes);

/// The text has one line for each change, and one that sums up. The value is a list of {"change", "what", "name",
/// "detail"}.
content::Output changesOutput(const std::vector<ConfigurationChange>& changes);

}  // namespace sluice::control
