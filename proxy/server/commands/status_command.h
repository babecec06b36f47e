// `sluice status`: shows which configuration a running gateway serves, which one it should serve, and the problems of
// that.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the status of the gateway with that admin port. Returns 0 if it serves the desired configuration, else 1.
int printStatus(const net::Address& admin, OutputFormat format);

/// Returns the admin document /status as a text for people.
std::string statusText(std::string_view document);

}  // namespace sluice::server
