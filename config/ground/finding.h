// A sentence about a field of an object, from which conditions, problems and answers are made.
#pragma once

#include <string>

namespace sluice::config {

struct Finding {
  std::string field = {};  // path of the field, "spec.rules[0].backendRefs"; empty if it concerns the whole object
  std::string message;     // a sentence without the path; without secrets

  /// Returns the sentence with the path in front: "spec.rules[0]: it has no backendRefs".
  std::string text() const { return field.empty() ? message : field + ": " + message; }

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace sluice::config
