// A Finding is a sentence about a field of an object. Conditions, problems and answers are made from it.
#pragma once

#include <string>

namespace sluice::config {

struct Finding {
  std::string field = {};  // such as "spec.rules[0].backendRefs"; empty if it concerns the whole object
  std::string message;     // a sentence without the path and without secrets

  /// Returns the sentence after its path: "spec.rules[0]: it has no backendRefs".
  std::string text() const { return field.empty() ? message : field + ": " + message; }

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace sluice::config
