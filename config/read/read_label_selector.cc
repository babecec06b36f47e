#include <utility>

#include "config/fields/field_reader.h"
#include "config/read/object_readers.h"
#include "proxy/base/label_selector.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxRequirements = 256;
constexpr std::size_t kMaxValues = 1024;
constexpr std::size_t kMaxValueBytes = 63;
constexpr TextRule kLabelKey{isAnyText, "the key of a label", 317};
constexpr TextRule kLabelValue{isAnyText, "the value of a label", kMaxValueBytes};
constexpr Choice<base::LabelOperator> kOperators[] = {{"In", base::LabelOperator::kIn},
                                                      {"NotIn", base::LabelOperator::kNotIn},
                                                      {"Exists", base::LabelOperator::kExists},
                                                      {"DoesNotExist", base::LabelOperator::kDoesNotExist}};

bool takesValues(base::LabelOperator op) { return op == base::LabelOperator::kIn || op == base::LabelOperator::kNotIn; }

base::LabelRequirement readRequirement(FieldReader reader) {
  base::LabelRequirement requirement;
  requirement.key = reader.requiredText("key", kLabelKey);
  reader.require("operator");
  const std::size_t errors = reader.context().errors();
  requirement.op = reader.choice("operator", kOperators, base::LabelOperator::kIn);
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

base::LabelSelector readLabelSelector(FieldReader reader) {
  base::LabelSelector selector;
  for (auto& [key, value] : reader.textMap("matchLabels", kMaxValueBytes)) {
    selector.requirements.push_back({key, base::LabelOperator::kIn, {value}});
  }
  for (const Item& item : reader.list("matchExpressions", kMaxRequirements)) {
    const std::size_t errors = reader.context().errors();
    base::LabelRequirement requirement = readRequirement(reader.map(item));
    if (reader.context().errors() == errors) selector.requirements.push_back(std::move(requirement));
  }
  reader.finish();
  return selector;
}

}  // namespace sluice::config
