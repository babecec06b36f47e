#include "config/ground/problem.h"

#include <algorithm>
#include <optional>

#include "proxy/content/output/make_value.h"

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

Value problemValue(const Problem& problem) {
  const Position& at = problem.position;
  const bool placed = !at.fileName().empty();
  return content::makeMap({{"severity", problem.severity == Severity::kError ? "error" : "warning"},
                           {"file", content::ifAny(at.fileName())},
                           {"line", placed ? std::optional(at.line) : std::nullopt},
                           {"column", placed ? std::optional(at.column) : std::nullopt},
                           {"object", content::ifAny(problem.object)},
                           {"field", content::ifAny(problem.field)},
                           {"message", problem.message}});
}

const Problem* firstErrorOf(const Problems& problems) {
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [](const Problem& problem) { return problem.severity == Severity::kError; });
  return found != problems.end() ? &*found : nullptr;
}

std::string firstError(const Problems& problems) {
  const Problem* first = firstErrorOf(problems);
  return first != nullptr ? render(*first) : std::string();
}

std::string_view namespaceOf(const Problem& problem) {
  const std::string_view object = problem.object;
  const std::size_t space = object.find(' ');
  const std::size_t slash = object.find('/');
  if (space == std::string_view::npos || slash == std::string_view::npos || slash < space) return {};
  return object.substr(space + 1, slash - space - 1);
}

bool hasErrors(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Severity::kError; });
}

}  // namespace sluice::config
