#include "config/problem.h"

#include <algorithm>

namespace sluice::config {

std::string render(const Problem& problem) {
  std::string line(problem.position.fileName());
  for (const std::uint32_t number : {problem.position.line, problem.position.column}) {
    if (number == 0) break;
    if (!line.empty()) line += ':';
    line += std::to_string(number);
  }
  if (!line.empty()) line += ": ";
  line += problem.severity == Severity::kError ? "error: " : "warning: ";
  for (const std::string* part : {&problem.object, &problem.field}) {
    if (!part->empty()) line.append(*part).append(": ");
  }
  return line + problem.message;
}

bool hasErrors(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Severity::kError; });
}

}  // namespace sluice::config
