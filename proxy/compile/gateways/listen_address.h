// Checks the addresses that a Gateway asks for (spec.addresses), some of which no machine can listen on.
//
// These are pure functions for any thread. They do not know whether this machine has an address; the process finds that
// out when it opens the sockets.
#pragma once

#include <string_view>

namespace sluice::compile {

/// Returns the reason why no machine can listen on that address, and what to write instead; nullptr if the address is
/// usable. `canonical` is in canonical form.
const char* whyUnusable(std::string_view canonical);

/// Returns true for the spellings of all addresses of a machine: "", "0.0.0.0" and "::".
bool isAnyAddress(std::string_view canonical);

}  // namespace sluice::compile
