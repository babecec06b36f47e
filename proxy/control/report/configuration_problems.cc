#include "proxy/control/report/configuration_problems.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "config/ground/finding.h"
#include "config/load/field_places.h"

namespace sluice::control {
namespace {

/// Collects problems, each once.
class ProblemList {
 public:
  explicit ProblemList(const CompiledConfiguration& configuration)
      : places_(configuration.set), problems_(configuration.problems) {
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      known_.try_emplace(keyOf(problems_[i]), i);
    }
  }

  void add(const config::ObjectStatus& object) {
    for (const auto& [where, conditions] : config::conditionsOf(object)) {
      for (const config::Condition& each : *conditions) {
        for (const config::Finding& finding : each.findings) add(object, each, finding);
      }
    }
  }

  config::Problems take() {
    std::stable_sort(problems_.begin(), problems_.end(), [](const config::Problem& a, const config::Problem& b) {
      const auto key = [](const config::Problem& each) {
        return std::tuple(each.position.fileName(), each.position.line, each.position.column);
      };
      return key(a) < key(b);
    });
    return std::move(problems_);
  }

 private:
  /// The object, where it is, and the text. Objects of two groups may have one name.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>;

  static Key keyOf(const config::Problem& problem) {
    return {problem.object, problem.position.line, problem.position.column, problemText(problem)};
  }

  void add(const config::ObjectStatus& object, const config::Condition& condition, const config::Finding& finding) {
    config::Problem problem;
    problem.object = config::objectName(object);
    const bool bad = config::isTrouble(condition.type, config::conditionStatusName(condition.status));
    problem.severity = bad ? config::Severity::kError : config::Severity::kWarning;
    problem.position = places_.find({object.group, object.kind, object.nameSpace, object.name}, finding.field);
    problem.field = finding.field;
    problem.message = finding.message;
    const auto [known, isNew] = known_.try_emplace(keyOf(problem), problems_.size());
    if (bad && !isNew) problems_[known->second].severity = config::Severity::kError;
    if (!isNew) return;
    problems_.push_back(std::move(problem));
  }

  config::FieldPlaces places_;
  config::Problems problems_;
  std::map<Key, std::size_t> known_;  // the indexes of the problems
};

}  // namespace

std::string problemText(const config::Problem& problem) {
  return config::Finding{problem.field, problem.message}.text();
}

config::Problems allProblems(const CompiledConfiguration& configuration) {
  ProblemList list(configuration);
  for (const config::ObjectStatus& object : configuration.compiled.statuses) list.add(object);
  return list.take();
}

}  // namespace sluice::control
