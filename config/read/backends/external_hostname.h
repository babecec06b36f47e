// Decides whether a hostname refers to an external destination. If it is another spelling of this machine or of the
// cluster, no Backend may have it.
//
// Only names are checked here. The address guard checks the addresses to which a name resolves, on every attempt.
// Search domains are never applied to a Backend's hostname, so the short name of a Service does not lead to the
// Service.
#pragma once

#include <string_view>

namespace sluice::config {

/// Returns the reason why `hostname` cannot be an external destination, as the end of "hostname ..."; empty if it can.
/// The letter case and a final dot of `hostname` do not matter.
std::string_view externalHostnameFault(std::string_view hostname);
/// Returns true if names with that suffix, which is in lower case, may be those of this machine or of the cluster.
bool coversInnerNames(std::string_view suffix);

}  // namespace sluice::config
