// `sluice version`: what the program is made of, for a report of a fault and for whoever asks whether a library's fault
// concerns it.
#pragma once

#include <string>

#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the version, the commit, the compiler, and every library with the version that runs. Returns 0.
int printVersion(OutputFormat format);

/// Returns the JSON document of it.
std::string versionJson();
/// Returns the same as a text for people.
std::string versionText();

}  // namespace sluice::server
