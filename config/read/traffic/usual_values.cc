#include "config/read/traffic/usual_values.h"

#include <algorithm>
#include <string>

namespace sluice::config {
namespace {

constexpr UsualValue kShippedValues[] = {{"httpUpgrade.type", "websocket"}, {"routingType", "Endpoint"}};

bool isUsual(const Value& value, const std::string& field, std::span<const UsualValue> usual) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kList:
      return std::all_of(value.items.begin(), value.items.end(),
                         [&](const Value& each) { return isUsual(each, field, usual); });
    case Value::Kind::kMap:  // an empty one may turn something on
      return !value.members.empty() &&
             std::all_of(value.members.begin(), value.members.end(), [&](const content::Member& each) {
               return isUsual(each.value, field + "." + each.key, usual);
             });
    default:
      return std::any_of(usual.begin(), usual.end(),
                         [&](const UsualValue& each) { return each.field == field && each.value == value.text; });
  }
}

}  // namespace

std::span<const UsualValue> usualShippedValues() { return kShippedValues; }

void refuseUnusual(FieldReader& reader, std::string_view place, std::string_view key,
                   std::span<const UsualValue> usual) {
  const Value* const value = reader.find(key);
  const std::string field = place.empty() ? std::string(key) : std::string(place) + "." + std::string(key);
  if (value != nullptr && !isUsual(*value, field, usual)) reader.refuse(key);
}

}  // namespace sluice::config
