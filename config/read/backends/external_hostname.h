// Decides whether a hostname stands for an external destination or is another spelling of this machine or of the
// cluster, which no Backend may reach.
//
// Only names are checked here; the address guard checks the addresses that a name resolves to, on every attempt. Search
// domains are never applied to a Backend's hostname, so the short name of a Service does not reach it.
#pragma once

#include <string_view>

namespace sluice::config {

/// Returns the reason why `hostname` (in any letter case, with or without a final dot) cannot be an external
/// destination, as the end of "hostname ..."; empty if it can.
std::string_view externalHostnameFault(std::string_view hostname);

}  // namespace sluice::config
