// The addresses that a Gateway asks for (spec.addresses), and which of them no machine can listen on.
//
// Pure functions; any thread. Whether this machine has the address that is asked for is not known here: who opens the
// sockets finds out (C-11).
#pragma once

#include <string>
#include <string_view>

namespace sluice::control {

/// One spelling of each: "::1" for "0:0:0:0:0:0:0:1". `text` is an IP address; "" stays "".
std::string canonicalAddress(std::string_view text);

/// Why nobody can listen on that address, and what to write instead; nullptr if somebody may. `canonical` as above.
const char* whyUnusable(std::string_view canonical);

}  // namespace sluice::control
