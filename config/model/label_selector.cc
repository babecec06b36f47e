#include "config/model/label_selector.h"

#include <algorithm>

#include "config/fields/field_reader.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxRequirements = 256;
constexpr std::size_t kMaxValues = 1024;
constexpr std::size_t kMaxValueBytes = 63;
constexpr TextRule kLabelKey{isAnyText, "the key of a label", 317};
constexpr TextRule kLabelValue{isAnyText, "the value of a label", kMaxValueBytes};
constexpr Choice<LabelOperator> kOperators[] = {{"In", LabelOperator::kIn},
                                                {"NotIn", LabelOperator::kNotIn},
                                                {"Exists", LabelOperator::kExists},
                                                {"DoesNotExist", LabelOperator::kDoesNotExist}};

bool takesValues(LabelOperator op) { return op == LabelOperator::kIn || op == LabelOperator::kNotIn; }

LabelRequirement readRequirement(FieldReader reader) {
  LabelRequirement requirement;
  requirement.key = reader.requiredText("key", kLabelKey);
  reader.require("operator");
  const std::size_t errors = reader.context().errors();
  requirement.op = reader.choice("operator", kOperators, LabelOperator::kIn);
  const bool known = reader.has("operator") && reader.context().errors() == errors;
  requirement.values = reader.texts("values", kLabelValue, kMaxValues);
  if (known && takesValues(requirement.op) && requirement.values.empty()) {
    reader.error("values", "must have at least one item for the operators In and NotIn");
  }
  if (known && !takesValues(requirement.op) && !requirement.values.empty()) {
    reader.error("values", "must be empty for the operators Exists and DoesNotExist");
  }
  reader.finish();
  return requirement;
}

}  // namespace

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

LabelSelector readLabelSelector(FieldReader reader) {
  LabelSelector selector;
  for (auto& [key, value] : reader.textMap("matchLabels", kMaxValueBytes)) {
    selector.requirements.push_back({key, LabelOperator::kIn, {value}});
  }
  for (const Item& item : reader.list("matchExpressions", kMaxRequirements)) {
    selector.requirements.push_back(readRequirement(reader.map(item)));
  }
  reader.finish();
  return selector;
}

}  // namespace sluice::config
