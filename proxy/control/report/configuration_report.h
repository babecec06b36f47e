// Writes the report of `sluice validate` about a configuration, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "proxy/content/value.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::control {

/// Returns a text for people: problems by file and line, then, unless it is `quiet`, every object with its conditions
/// and one line that sums up. A quiet report on a flawless configuration is empty.
std::string reportText(const CompiledConfiguration& configuration, bool quiet = false);

/// Returns a line for each problem that GitHub Actions shows at its place: a workflow command ("::error file=...").
std::string reportGithub(const CompiledConfiguration& configuration);

/// Returns {"paths", "valid", "problems", "objects"} of a configuration that was read from these paths. A `quiet`
/// report leaves the objects out.
content::Value reportValue(const std::vector<std::string>& paths, const CompiledConfiguration& configuration,
                           bool quiet);

}  // namespace sluice::control
