// `sluice catalog`: which payload processors a configuration supports, for people and for whoever writes it into a
// cluster.
#pragma once

#include "proxy/processing/factory.h"
#include "proxy/server/cli.h"

namespace sluice::server {

/// Prints the list of /catalog, or the objects that publish it, to stdout, and every problem to stderr. Returns 0 if
/// there is no error among them, else 1.
int printCatalog(const Options& options, const processing::BuiltinTypes& types);

}  // namespace sluice::server
