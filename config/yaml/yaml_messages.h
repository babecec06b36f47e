// Translates the errors of yaml-cpp about a text that is not YAML into plain words.
#pragma once

#include <string>
#include <string_view>

namespace sluice::config {

/// Returns the error and a suggestion where to look, or the library's own text for errors that users rarely meet.
std::string explainYamlError(std::string_view libraryMessage);

}  // namespace sluice::config
