// A Problem is an error or a warning about a configuration, with its position. `sluice validate` prints it. An error
// refuses an object.
//
// These are plain values without secrets: messages quote only names, keys and values of fields that are not secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/document.h"

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

/// Returns one line: "file:line:column: error: HTTPRoute default/web: spec.rules[0]: message". Unknown parts are left
/// out.
std::string render(const Problem& problem);

/// Returns {"severity", "file", "line", "column", "object", "field", "message"}, which is an element of /status.
/// Unknown parts are left out.
Value problemValue(const Problem& problem);

bool hasErrors(const Problems& problems);
/// Returns the first error; null if there is none.
const Problem* firstErrorOf(const Problems& problems);
/// Returns the first error as a line; empty if there is none.
std::string firstError(const Problems& problems);
/// Returns the namespace of the problem's object; empty if it concerns no object or one without a namespace.
std::string_view namespaceOf(const Problem& problem);

}  // namespace sluice::config
