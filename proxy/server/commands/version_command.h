// `sluice version`: prints the parts of the program, for bug reports and to check whether the fault of a library
// concerns it.
#pragma once

#include <string>

#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the version, the commit, the compiler, and every library with the version that runs. Returns 0.
int printVersion(OutputFormat format);

/// Returns this list as a JSON document.
std::string versionJson();
/// Returns the same as a text for people.
std::string versionText();

}  // namespace sluice::server
