// Something that is wrong with a configuration, and where: what `sluice validate` prints and what refuses an object.
//
// Plain values. Never holds a secret: messages quote only names, keys and values of fields that are not secret.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/yaml/document.h"

namespace sluice::config {

enum class Severity : std::uint8_t { kWarning, kError };

struct Problem {
  Severity severity = Severity::kError;
  Position position;
  std::string object;  // "HTTPRoute default/web"; empty if it concerns no object
  std::string field;   // "spec.rules[0].backendRefs"; empty if it concerns no field
  std::string message;
};

using Problems = std::vector<Problem>;

/// "file:line:column: error: HTTPRoute default/web: spec.rules[0]: message", leaving out what is unknown. One line.
std::string render(const Problem& problem);

bool hasErrors(const Problems& problems);

}  // namespace sluice::config
