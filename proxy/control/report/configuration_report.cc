#include "proxy/control/report/configuration_report.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "proxy/content/output/make_value.h"
#include "proxy/control/report/configuration_problems.h"

namespace sluice::control {
namespace {

std::string count(std::size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

/// Returns the object without the messages that the list of problems has already.
config::ObjectStatus untold(const config::ObjectStatus& object, const std::set<std::string>& told) {
  config::ObjectStatus result = object;
  const auto clear = [&](std::vector<config::Condition>& conditions) {
    for (config::Condition& each : conditions) {
      const auto same = told.lower_bound(each.message);  // with or without its consequence
      const bool known = same != told.end() && same->starts_with(each.message);
      if (!each.findings.empty() || known) each.message.clear();
    }
  };
  clear(result.conditions);
  for (config::ListenerStatus& each : result.listeners) clear(each.conditions);
  for (config::ParentStatus& each : result.parents) clear(each.conditions);
  for (config::ControllerStatus& each : result.controllers) clear(each.conditions);
  return result;
}

std::string objectsText(const CompiledConfiguration& configuration, const config::Problems& problems) {
  std::set<std::string> told;
  for (const config::Problem& each : problems) told.insert(problemText(each));
  std::string text;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    text += config::statusText(untold(object, told));
  }
  return text;
}

std::string summaryText(const CompiledConfiguration& configuration, const config::Problems& problems) {
  const auto isError = [](const config::Problem& each) { return each.severity == config::Severity::kError; };
  const auto errors = static_cast<std::size_t>(std::count_if(problems.begin(), problems.end(), isError));
  const std::size_t warnings = problems.size() - errors;
  const std::string also = warnings == 0 ? "" : ", " + count(warnings, "warning");
  const config::StatusList& objects = configuration.compiled.statuses;
  if (configuration.flawless()) return "valid: " + count(objects.size(), "object") + " served as written" + also + "\n";
  const auto unserved = static_cast<std::size_t>(
      std::count_if(objects.begin(), objects.end(), [](const auto& each) { return !config::isHealthy(each); }));
  std::string text =
      "not valid: " + count(errors, "error") + also + ", " + count(unserved, "object") + " not fully served";
  if (!configuration.usable()) text += "; nothing can be served";
  return text + "\n";
}

/// Escapes the data of a workflow command, and of its properties also ":" and ",".
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\n') {
      result += "%0A";
    } else if (c == '\r') {
      result += "%0D";
    } else if (property && c == ':') {
      result += "%3A";
    } else if (property && c == ',') {
      result += "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

std::string workflowCommand(const config::Problem& problem) {
  std::string properties;
  const auto add = [&](const char* name, std::string_view value) {
    properties += (properties.empty() ? " " : ",") + std::string(name) + "=" + escaped(value, true);
  };
  const config::Position& position = problem.position;
  if (!position.fileName().empty()) add("file", position.fileName());
  if (position.line != 0) add("line", std::to_string(position.line));
  if (position.column != 0) add("col", std::to_string(position.column));
  if (!problem.object.empty()) add("title", problem.object);
  const char* command = problem.severity == config::Severity::kError ? "::error" : "::warning";
  return command + properties + "::" + escaped(problemText(problem), false) + "\n";
}

}  // namespace

std::string reportText(const CompiledConfiguration& configuration, bool quiet) {
  const config::Problems problems = allProblems(configuration);
  std::string text;
  for (const config::Problem& problem : problems) text += config::render(problem) + "\n";
  if (quiet) return text;
  return text + objectsText(configuration, problems) + summaryText(configuration, problems);
}

std::string reportGithub(const CompiledConfiguration& configuration) {
  std::string text;
  for (const config::Problem& problem : allProblems(configuration)) text += workflowCommand(problem);
  return text;
}

content::Value reportValue(const std::vector<std::string>& paths, const CompiledConfiguration& configuration,
                           bool quiet) {
  content::Value report =
      content::makeMap({{"paths", paths},
                        {"valid", configuration.flawless()},
                        {"problems", content::makeList(allProblems(configuration), config::problemValue)}});
  if (quiet) return report;
  content::addMembers(report,
                      {{"objects", content::makeList(configuration.compiled.statuses, config::objectStatusValue)}});
  return report;
}

}  // namespace sluice::control
