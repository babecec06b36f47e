// `sluice status`: what a running gateway serves, what it should serve, and what is wrong with that.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the status of the gateway with that admin port. Returns 0 if it serves what it should, else 1.
int printStatus(const net::Address& admin, OutputFormat format);

/// Returns the admin document /status as a text for people.
std::string statusText(std::string_view document);

}  // namespace sluice::server
