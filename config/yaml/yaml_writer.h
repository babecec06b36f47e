// Writes a tree of values as a YAML document.
#pragma once

#include <string>

#include "config/ground/document.h"

namespace sluice::config {

/// Returns text that the YAML reader reads as the same values, with a line end.
std::string writeYaml(const Value& root);

}  // namespace sluice::config
