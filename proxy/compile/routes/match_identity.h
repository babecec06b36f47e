// Identifies matches that select the same requests by the same criteria, however they are written.
#pragma once

#include <string>

#include "proxy/routing/table/match.h"

namespace sluice::compile {

/// Returns a digest that is equal for all such matches, whatever the hostnames of their routes.
std::string matchIdentity(const routing::MatchSpec& spec);

}  // namespace sluice::compile
