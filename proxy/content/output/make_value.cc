#include "proxy/content/output/make_value.h"

namespace sluice::content {

void addMembers(Value& map, std::initializer_list<MapEntry> entries) {
  for (const MapEntry& each : entries) {
    if (each.value) map.members.push_back({std::string(each.key), {}, *std::move(each.value)});
  }
}

Value makeMap(std::initializer_list<MapEntry> entries) {
  Value map;
  map.kind = Value::Kind::kMap;
  addMembers(map, entries);
  return map;
}

}  // namespace sluice::content
