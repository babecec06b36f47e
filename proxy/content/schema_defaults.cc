#include "proxy/content/schema_defaults.h"

#include <algorithm>
#include <utility>

#include "proxy/content/schema_document.h"

namespace sluice::content {
namespace {

/// The deepest nesting of values: a default may contain defaults of a schema that refers to itself.
constexpr std::size_t kMaxDepth = 64;

void place(Value& value, const Position& position) {
  value.position = position;
  value.blockColumn = 0;
  for (Value& item : value.items) place(item, position);
  for (Member& member : value.members) {
    member.position = position;
    place(member.value, position);
  }
}

class Filler {
 public:
  explicit Filler(const Value& root) : root_(root) {}

  void fill(const Value& schema, Value& value, std::size_t depth) const {
    if (!schema.isMap() || depth > kMaxDepth) return;
    if (const Value* referred = follow(schema)) fill(*referred, value, depth);
    if (const Value* all = schema.find("allOf")) {
      for (const Value& each : all->items) fill(each, value, depth);
    }
    if (value.isMap()) fillMap(schema, value, depth);
    if (value.isList()) fillList(schema, value, depth);
  }

 private:
  const Value* follow(const Value& schema) const {
    const Value* ref = schema.find("$ref");
    return ref == nullptr ? nullptr : referredSchema(root_, ref->text);
  }

  /// Returns nullptr if there is none. A schema's own default takes precedence over that of the schema it refers to.
  const Value* defaultOf(const Value& schema) const {
    for (const Value* at = &schema; at != nullptr; at = follow(*at)) {
      if (const Value* given = at->find("default")) return given;
    }
    return nullptr;
  }

  void fillMap(const Value& schema, Value& value, std::size_t depth) const {
    const Value* properties = schema.find("properties");
    if (properties != nullptr) {
      for (const Member& property : properties->members) addMissing(property, value);
    }
    const Value* others = schema.find("additionalProperties");
    for (Member& member : value.members) {
      const Value* own = properties == nullptr ? nullptr : properties->find(member.key);
      if (own == nullptr) own = others;
      if (own != nullptr) fill(*own, member.value, depth + 1);
    }
  }

  void addMissing(const Member& property, Value& value) const {
    const Value* given = defaultOf(property.value);
    if (given == nullptr || value.find(property.key) != nullptr) return;
    Member member{property.key, value.position, *given};
    place(member.value, value.position);
    value.members.push_back(std::move(member));
  }

  void fillList(const Value& schema, Value& value, std::size_t depth) const {
    const Value* first = schema.find("prefixItems");
    const Value* rest = schema.find("items");
    const std::size_t prefix = first == nullptr ? 0 : first->items.size();
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i < prefix) {
        fill(first->items[i], value.items[i], depth + 1);
      } else if (rest != nullptr) {
        fill(*rest, value.items[i], depth + 1);
      }
    }
  }

  const Value& root_;
};

}  // namespace

void fillDefaults(const Value& schema, Value& value) { Filler(schema).fill(schema, value, 0); }

}  // namespace sluice::content
