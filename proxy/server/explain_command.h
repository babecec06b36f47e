// `sluice explain`: explains how the gateway would handle a request, by a configuration that is read for it.
#pragma once

#include "proxy/processing/factory.h"
#include "proxy/server/cli.h"

namespace sluice::server {

/// Prints the explanation to stdout, and errors to stderr. Returns 0 if there is one, 1 if the configuration cannot be
/// read or served, and 2 if the arguments do not determine the request or the listener.
int printExplanation(const Options& options, const processing::BuiltinTypes& types);

}  // namespace sluice::server
