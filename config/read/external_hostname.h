// Which hostnames stand for something outside, and which are another spelling of this machine or of the cluster (E-54).
//
// Names only: what a name resolves to is the address guard's, on every attempt. Search domains are never applied to a
// Backend's hostname, so a short name of a Service is none here.
#pragma once

#include <string_view>

namespace sluice::config {

/// Why `hostname` (in any letter case, a final dot or not) can not be that of an external destination, as the end of
/// "hostname ..."; empty if it can.
std::string_view externalHostnameFault(std::string_view hostname);

}  // namespace sluice::config
