#include "config/ground/problem.h"

#include <algorithm>

#include "proxy/base/json_writer.h"

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

std::string problemJson(const Problem& problem) {
  base::JsonWriter json;
  json.beginObject().member("severity", problem.severity == Severity::kError ? "error" : "warning");
  if (!problem.position.fileName().empty()) {
    json.member("file", problem.position.fileName());
    json.member("line", std::int64_t{problem.position.line}).member("column", std::int64_t{problem.position.column});
  }
  if (!problem.object.empty()) json.member("object", problem.object);
  if (!problem.field.empty()) json.member("field", problem.field);
  json.member("message", problem.message).endObject();
  return json.take();
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
