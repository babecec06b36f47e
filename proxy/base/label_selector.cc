#include "proxy/base/label_selector.h"

#include <algorithm>

namespace sluice::base {
bool LabelRequirement::matches(const std::map<std::string, std::string>& labels) const {
  const auto label = labels.find(key);
  const bool listed = label != labels.end() && std::find(values.begin(), values.end(), label->second) != values.end();
  switch (op) {
    case LabelOperator::kIn:
      return listed;
    case LabelOperator::kNotIn:
      return !listed;
    case LabelOperator::kExists:
      return label != labels.end();
    case LabelOperator::kDoesNotExist:
      return label == labels.end();
  }
  return false;
}

bool LabelSelector::matches(const std::map<std::string, std::string>& labels) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const LabelRequirement& each) { return each.matches(labels); });
}

}  // namespace sluice::base
