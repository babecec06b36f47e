// Writes a tree of values as a YAML document.
#pragma once

#include <string>

#include "config/ground/document.h"

namespace sluice::config {

/// Returns text, with a final newline, that the YAML reader reads as the same values.
std::string writeYaml(const Value& root);

}  // namespace sluice::config
