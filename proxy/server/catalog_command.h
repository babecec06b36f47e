// `sluice catalog`: lists the payload processors that a configuration supports, for people and for tools that publish
// the list in a cluster.
#pragma once

#include "proxy/processing/factory.h"
#include "proxy/server/cli.h"

namespace sluice::server {

/// Prints the list of /catalog, or the objects that publish it, to stdout, and every problem to stderr. Returns 0 if
/// none of the problems is an error, else 1.
int printCatalog(const Options& options, const processing::BuiltinTypes& types);

}  // namespace sluice::server
