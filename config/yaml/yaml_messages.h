// Says in plain words what yaml-cpp says about a text that is not YAML.
#pragma once

#include <string>
#include <string_view>

namespace sluice::config {

/// Returns what is wrong and what to look for; the library's own text if it is not one of those that writers meet.
std::string explainYamlError(std::string_view libraryMessage);

}  // namespace sluice::config
