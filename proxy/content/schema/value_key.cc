#include "proxy/content/schema/value_key.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "proxy/content/schema/exact_decimal.h"

namespace sluice::content {
namespace {

void appendText(std::string_view text, std::string& key) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

void appendMembers(const Value& map, std::string& key) {
  std::vector<const Member*> members;
  members.reserve(map.members.size());
  for (const Member& member : map.members) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const Member* one, const Member* other) { return one->key < other->key; });
  key += '{';
  for (const Member* member : members) {
    appendText(member->key, key);
    appendValueKey(member->value, key);
  }
  key += '}';
}

}  // namespace

void appendValueKey(const Value& value, std::string& key) {
  switch (value.kind) {
    case Value::Kind::kNull:
      key += 'n';
      return;
    case Value::Kind::kBool:
      key += value.text == "true" ? 't' : 'f';
      return;
    case Value::Kind::kNumber:
      key += '#';
      ExactDecimal(value.text).appendKey(key);
      key += ';';
      return;
    case Value::Kind::kString:
      key += '"';
      appendText(value.text, key);
      return;
    case Value::Kind::kList:
      key += '[';
      for (const Value& item : value.items) appendValueKey(item, key);
      key += ']';
      return;
    case Value::Kind::kMap:
      appendMembers(value, key);
      return;
  }
}

std::string valueKey(const Value& value) {
  std::string key;
  appendValueKey(value, key);
  return key;
}

}  // namespace sluice::content
