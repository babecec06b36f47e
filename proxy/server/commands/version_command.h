// `sluice version`: prints the parts of the program, for bug reports and to check whether the fault of a library
// concerns it.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the version, the commit, the compiler, and every library with the version that runs. Returns 0.
int printVersion(OutputFormat format);

/// Returns what printVersion() prints.
content::Output versionOutput();

}  // namespace sluice::server
