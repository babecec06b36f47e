// The faults that the conditions of an object report, for commands that print statuses.
#pragma once

#include <string>
#include <vector>

#include "proxy/content/value.h"

namespace sluice::server {

/// Returns the faults that conditions anywhere in a status report, each once: "Programmed False, Invalid: ...".
std::vector<std::string> conditionFaults(const content::Value& status);

}  // namespace sluice::server
