#include "proxy/content/schema/schema_defaults.h"

#include <cstddef>
#include <utility>

#include "proxy/content/schema/schema_bounds.h"

namespace sluice::content {
namespace {

void place(Value& value, const Position& position) {
  value.position = position;
  value.blockColumn = 0;
  for (Value& item : value.items) place(item, position);
  for (Member& member : value.members) {
    member.position = position;
    place(member.value, position);
  }
}

class DefaultFiller {
 public:
  /// `depth` is that of the value inside the whole.
  void fill(const SchemaNode& node, Value& value, std::size_t depth);

  const std::string& fault() const { return fault_; }

 private:
  void fillMap(const MapRules& rules, Value& map, std::size_t depth);
  void fillMember(const MapRules& rules, Member& member, std::size_t depth);
  void fillList(const ListRules& rules, Value& list, std::size_t depth);
  void addMissing(const MapRules& rules, Value& map, std::size_t depth);
  bool pay(const Value& given, std::size_t depth);
  bool payBytes(std::size_t bytes);
  bool spend(std::size_t steps);
  bool fail(std::string_view what, std::size_t bound);

  std::size_t steps_ = kMaxSchemaSteps;
  std::size_t values_ = kMaxFilledValues;
  std::size_t bytes_ = kMaxFilledBytes;
  std::size_t inside_ = 0;  // number of schemas around this one
  std::string fault_;
};

void DefaultFiller::fill(const SchemaNode& node, Value& value, std::size_t depth) {
  if (!spend(1)) return;
  if (inside_ == kMaxCheckDepth) {
    fail("schemas inside each other", kMaxCheckDepth);
    return;
  }
  ++inside_;
  if (node.inPlace) {
    if (node.inPlace->ref != nullptr) fill(*node.inPlace->ref, value, depth);
    for (const SchemaNode* each : node.inPlace->allOf) fill(*each, value, depth);
  }
  if (node.maps && value.isMap()) fillMap(*node.maps, value, depth);
  if (node.lists && value.isList()) fillList(*node.lists, value, depth);
  --inside_;
}

void DefaultFiller::fillMap(const MapRules& rules, Value& map, std::size_t depth) {
  addMissing(rules, map, depth);
  for (Member& member : map.members) {
    if (!spend(1)) return;
    fillMember(rules, member, depth + 1);
  }
}

void DefaultFiller::addMissing(const MapRules& rules, Value& map, std::size_t depth) {
  for (const auto& [name, given] : rules.defaults) {
    if (!spend(1 + map.members.size() / 8)) return;
    if (map.find(name) != nullptr) continue;
    if (!payBytes(name.size()) || !pay(*given, depth + 1)) return;
    Member member{std::string(name), map.position, *given};
    place(member.value, map.position);
    map.members.push_back(std::move(member));
  }
}

void DefaultFiller::fillMember(const MapRules& rules, Member& member, std::size_t depth) {
  const SchemaNode* own = findNamed(rules.properties, member.key);
  bool isKnown = own != nullptr;
  if (own != nullptr) fill(*own, member.value, depth);
  for (const auto& [pattern, schema] : rules.patternProperties) {
    // No pattern is tried on a longer name: the check has refused it, or it belongs to a default.
    if (member.key.size() > kMaxPatternedBytes || !spend(pattern->stepsFor(member.key.size()))) return;
    if (!pattern->matches(member.key)) continue;
    isKnown = true;
    fill(*schema, member.value, depth);
  }
  if (!isKnown && rules.additional != nullptr) fill(*rules.additional, member.value, depth);
}

void DefaultFiller::fillList(const ListRules& rules, Value& list, std::size_t depth) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const SchemaNode* schema = i < rules.prefixItems.size() ? rules.prefixItems[i] : rules.items;
    if (schema == nullptr || !fault_.empty()) return;
    fill(*schema, list.items[i], depth + 1);
  }
}

/// Subtracts the cost of a default from the budget. Returns false if too little is left.
bool DefaultFiller::pay(const Value& given, std::size_t depth) {
  if (depth > kMaxFilledDepth) return fail("levels", kMaxFilledDepth);
  if (values_ == 0) return fail("values", kMaxFilledValues);
  --values_;
  if (!payBytes(given.text.size())) return false;
  for (const Value& item : given.items) {
    if (!pay(item, depth + 1)) return false;
  }
  for (const Member& member : given.members) {
    if (!payBytes(member.key.size()) || !pay(member.value, depth + 1)) return false;
  }
  return true;
}

bool DefaultFiller::payBytes(std::size_t bytes) {
  if (bytes > bytes_) return fail("bytes", kMaxFilledBytes);
  bytes_ -= bytes;
  return true;
}

bool DefaultFiller::spend(std::size_t steps) {
  if (!fault_.empty()) return false;
  if (steps > steps_) return fail("steps", kMaxSchemaSteps);
  steps_ -= steps;
  return true;
}

bool DefaultFiller::fail(std::string_view what, std::size_t bound) {
  if (fault_.empty()) fault_ = "its defaults need more than " + std::to_string(bound) + " " + std::string(what);
  return false;
}

}  // namespace

std::string fillDefaults(const CompiledSchema& schema, Value& value) {
  DefaultFiller filler;
  filler.fill(*schema.root, value, 0);
  return filler.fault();
}

}  // namespace sluice::content
