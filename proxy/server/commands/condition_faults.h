// What the conditions of an object complain of, for commands that print statuses.
#pragma once

#include <string>
#include <vector>

#include "proxy/content/value.h"

namespace sluice::server {

/// Returns what the conditions anywhere in a status complain of, as "Programmed False, Invalid: ...", each once.
std::vector<std::string> conditionFaults(const content::Value& status);

}  // namespace sluice::server
