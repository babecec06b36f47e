// `sluice diff`: prints the changes that would follow if a gateway that serves one configuration got another one.
#pragma once

#include <string>

#include "proxy/processing/factory.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the differences. Returns 0 if there are none, else 1. Also returns 1, with a message, if one of the two
/// cannot be served at all.
int printDifferences(const std::string& before, const std::string& after, OutputFormat format,
                     const processing::BuiltinTypes& processors);

}  // namespace sluice::server
