// Which objects a label selector means (Kubernetes' metav1.LabelSelector). Plain values; no labels of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::config {

enum class LabelOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kIn;
  std::vector<std::string> values;  // kIn, kNotIn: at least one; else none

  bool matches(const std::map<std::string, std::string>& labels) const;
};

struct LabelSelector {
  std::vector<LabelRequirement> requirements;  // all of them; none: every object

  bool matches(const std::map<std::string, std::string>& labels) const;
};

}  // namespace sluice::config
