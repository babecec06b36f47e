// `sluice status`: shows which configuration a running gateway serves, which one it should serve, and the problems of
// that.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the status of the gateway with that admin port. Returns 0 if it serves the desired configuration, else 1.
int printStatus(const net::Address& admin, OutputFormat format);

/// Returns what printStatus() prints about the admin page /status.
content::Output statusOutput(content::Value page);

}  // namespace sluice::server
