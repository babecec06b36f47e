#include <optional>
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

void readRequirement(FieldReader& reader, base::LabelRequirement& requirement) {
  reader.read(required("key"), requirement.key, kLabelKey);
  std::optional<base::LabelOperator> known;
  reader.read(required("operator"), known, kOperators);
  requirement.op = known.value_or(requirement.op);
  reader.read("values", requirement.values, kLabelValue, kMaxValues);
  if (known && takesValues(requirement.op) && requirement.values.empty()) {
    reader.error("values", "must have at least one item for the operators In and NotIn");
  }
  if (known && !takesValues(requirement.op) && !requirement.values.empty()) {
    reader.error("values", "must be empty for the operators Exists and DoesNotExist");
  }
}

}  // namespace

void readLabelSelector(FieldReader& reader, base::LabelSelector& selector) {
  for (auto& [key, value] : reader.textMap("matchLabels", kMaxValueBytes)) {
    selector.requirements.push_back({key, base::LabelOperator::kIn, {value}});
  }
  for (const Item& item : reader.list("matchExpressions", kMaxRequirements)) {
    base::LabelRequirement requirement;
    if (reader.map(item).readInto(requirement, readRequirement))
      selector.requirements.push_back(std::move(requirement));
  }
}

}  // namespace sluice::config
