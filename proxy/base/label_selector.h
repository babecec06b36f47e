// Label selectors (Kubernetes' metav1.LabelSelector) as plain values. They select objects by their labels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::base {

enum class LabelOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kIn;
  std::vector<std::string> values;  // at least one for kIn and kNotIn; else none

  bool matches(const std::map<std::string, std::string>& labels) const;

  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;
};

struct LabelSelector {
  std::vector<LabelRequirement> requirements;  // all must hold; an empty list selects every object

  bool matches(const std::map<std::string, std::string>& labels) const;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

}  // namespace sluice::base
