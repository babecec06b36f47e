// The flags that say where a gateway runs: its zone, and the addresses of its machine that are for Gateways.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "proxy/compile/gateways/address_pool.h"

namespace sluice::server {

/// The variable with the zone of a gateway that --zone does not name.
inline constexpr const char* kZoneVariable = "SLUICE_ZONE";

/// Adds --address-pool to `sluice run`.
void takeAddressPool(CLI::App& run, std::optional<compile::AddressPool>& pool);
/// Adds --zone to `sluice run`.
void takeZone(CLI::App& run, std::string& zone);
/// Gives `zone`, if no flag did, the value of the variable. Returns what is wrong with that; empty if nothing is.
std::string completeZone(std::string& zone);

}  // namespace sluice::server
