// `sluice status`: shows which configuration a running gateway serves, which one it should serve, the problems of that,
// and the objects that are not served as they are written.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the status of the gateway with that admin port. Returns 0 if it serves the desired configuration and
/// no object has a fault, else 1.
int printStatus(const net::Address& admin, OutputFormat format);

/// Returns what printStatus() prints about the admin page /status.
content::Output statusOutput(content::Value page);

/// Returns true if that page says that the desired configuration is served and no object has a fault.
bool isWell(const content::Value& page);

}  // namespace sluice::server
