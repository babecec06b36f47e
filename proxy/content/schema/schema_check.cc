#include "proxy/content/schema/schema_check.h"

#include <algorithm>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/content/schema/value_key.h"
#include "proxy/content/schema/value_rules.h"

namespace sluice::content {
namespace {

std::string schemasOf(std::size_t count, std::string_view keyword) {
  return std::to_string(count) + " schemas of " + std::string(keyword);
}

std::size_t partCount(const Value& value) { return value.items.size() + value.members.size(); }

}  // namespace

std::vector<SchemaFault> SchemaCheck::run(const SchemaNode& node, const Value& value) {
  whole_ = &value;
  scope_ = {schema_.root->resource};
  faults_.clear();
  holds(node, value, nullptr);
  if (!reached_) return std::move(faults_);
  if (faults_.size() == kMaxViolations) faults_.pop_back();
  faults_.push_back(reached_);
  return std::move(faults_);
}

bool SchemaCheck::spend(std::size_t steps) {
  if (steps > steps_) {
    steps_ = 0;
    return end(*whole_, "the check needs more than " + std::to_string(kMaxSchemaSteps) + " steps");
  }
  steps_ -= steps;
  return true;
}

bool SchemaCheck::refuse(const Value& at, std::string message) {
  if (!stops()) faults_.push_back({&at, std::move(message)});
  return false;
}

bool SchemaCheck::end(const Value& at, std::string message) {
  if (!reached_) reached_ = {&at, std::move(message)};
  return false;
}

bool SchemaCheck::holds(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (reached_ || !spend(1)) return false;
  if (depth_ == kMaxCheckDepth) {
    return end(*whole_, "the check needs more than " + std::to_string(kMaxCheckDepth) + " schemas inside each other");
  }
  if (node.refusesAll) return refuse(value, "is not allowed");
  const bool isNewScope = scope_.back() != node.resource;
  if (isNewScope) scope_.push_back(node.resource);
  ++depth_;
  const bool good = holdsInScope(node, value, evaluated);
  --depth_;
  if (isNewScope) scope_.pop_back();
  return good;
}

bool SchemaCheck::holdsQuietly(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  ++quiet_;
  const bool good = holds(node, value, evaluated);
  --quiet_;
  return good;
}

bool SchemaCheck::holdsBranch(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (evaluated == nullptr) return holdsQuietly(node, value, nullptr);
  EvaluatedParts parts;
  if (!spend(partCount(value) / 512) || !holdsQuietly(node, value, &parts)) return false;
  evaluated->add(parts);
  return true;
}

bool SchemaCheck::holdsInScope(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (std::string fault = kindFault(node.kinds, value); !fault.empty()) return refuse(value, std::move(fault));
  constexpr Rule kRules[] = {&SchemaCheck::holdsScalars, &SchemaCheck::holdsInPlace, &SchemaCheck::holdsList,
                             &SchemaCheck::holdsMap};
  const bool watches = (node.lists && node.lists->unevaluated != nullptr && value.isList()) ||
                       (node.maps && node.maps->unevaluated != nullptr && value.isMap());
  if (watches && !spend(partCount(value) / 512)) return false;
  EvaluatedParts own;
  EvaluatedParts* parts = watches ? &own : evaluated;
  bool good = true;
  for (const Rule rule : kRules) {
    if ((this->*rule)(node, value, parts)) continue;
    good = false;
    if (stops()) return false;
  }
  if (!good || !watches) return good;
  if (evaluated != nullptr) evaluated->markAll();
  return holdsUnevaluated(node, value, parts);
}

// --- scalars -----------------------------------------------------------------------------------------------

bool SchemaCheck::holdsScalars(const SchemaNode& node, const Value& value, EvaluatedParts* /*evaluated*/) {
  if (!spend(value.text.size() / 64)) return false;
  if (node.enumerated && !isAmong(*node.enumerated, value)) {
    return refuse(value, "must be one of " + node.enumerated->described);
  }
  if (node.constant && !isAmong(*node.constant, value)) return refuse(value, "must be " + node.constant->described);
  if (node.numbers) {
    if (std::string fault = numberFault(*node.numbers, value); !fault.empty()) return refuse(value, std::move(fault));
  }
  if (!node.strings) return true;
  if (std::string fault = lengthFault(*node.strings, value); !fault.empty()) return refuse(value, std::move(fault));
  return node.strings->pattern == nullptr || !value.isString() || holdsPattern(*node.strings->pattern, value);
}

bool SchemaCheck::isAmong(const AllowedValues& allowed, const Value& value) {
  const std::string key = valueKey(value);
  return spend(key.size() / 8) && std::binary_search(allowed.keys.begin(), allowed.keys.end(), key);
}

bool SchemaCheck::holdsPattern(const SchemaPattern& pattern, const Value& value) {
  if (value.text.size() > kMaxPatternedBytes) {
    return end(value, "is longer than " + std::to_string(kMaxPatternedBytes) + " bytes, which no pattern is tried on");
  }
  if (!spend(pattern.stepsFor(value.text.size()))) return false;
  return pattern.matches(value.text) || refuse(value, "does not match the pattern " + pattern.text());
}

// --- schemas for the same value ----------------------------------------------------------------------------

bool SchemaCheck::holdsInPlace(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (!node.inPlace) return true;
  const InPlaceRules& rules = *node.inPlace;
  bool good = true;
  // Returns false if the remaining values need not be checked.
  const auto goesOn = [&](bool holdsThis) {
    good = good && holdsThis;
    return holdsThis || !stops();
  };
  if (rules.ref != nullptr && !goesOn(holds(*rules.ref, value, evaluated))) return false;
  if (rules.dynamicRef != nullptr && !goesOn(holds(dynamicTarget(rules), value, evaluated))) return false;
  for (const SchemaNode* each : rules.allOf) {
    if (!goesOn(holds(*each, value, evaluated))) return false;
  }
  if (!rules.anyOf.empty() && !goesOn(holdsAnyOf(rules, value, evaluated))) return false;
  if (!rules.oneOf.empty() && !goesOn(holdsOneOf(rules, value, evaluated))) return false;
  if (rules.condition != nullptr && !goesOn(holdsCondition(rules, value, evaluated))) return false;
  for (const auto& [name, schema] : rules.dependent) {
    if (findMember(value, name) != nullptr && !goesOn(holds(*schema, value, evaluated))) return false;
  }
  if (rules.inverted != nullptr && holdsQuietly(*rules.inverted, value, nullptr)) {
    return refuse(value, "must not match the schema of not");
  }
  return good && !reached_;
}

bool SchemaCheck::holdsAnyOf(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated) {
  bool any = false;
  for (const SchemaNode* each : rules.anyOf) {
    if (!holdsBranch(*each, value, evaluated)) continue;
    any = true;
    if (evaluated == nullptr) break;
  }
  return any || refuse(value, "matches none of the " + schemasOf(rules.anyOf.size(), "anyOf"));
}

bool SchemaCheck::holdsOneOf(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated) {
  std::size_t matching = 0;
  for (const SchemaNode* each : rules.oneOf) {
    if (holdsBranch(*each, value, evaluated) && ++matching > 1) break;
  }
  if (matching == 1) return true;
  return refuse(value, (matching == 0 ? "matches none of the " : "matches more than one of the ") +
                           schemasOf(rules.oneOf.size(), "oneOf"));
}

bool SchemaCheck::holdsCondition(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated) {
  const SchemaNode* next = holdsBranch(*rules.condition, value, evaluated) ? rules.then : rules.otherwise;
  return next == nullptr || holds(*next, value, evaluated);
}

const SchemaNode& SchemaCheck::dynamicTarget(const InPlaceRules& rules) {
  if (rules.dynamicAnchor.empty()) return *rules.dynamicRef;
  for (const std::uint32_t resource : scope_) {
    const SchemaNode* outer = findNamed(schema_.dynamicAnchors[resource], rules.dynamicAnchor);
    if (outer != nullptr) return *outer;
    spend(1);
  }
  return *rules.dynamicRef;
}

// --- lists -------------------------------------------------------------------------------------------------

bool SchemaCheck::holdsList(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (!value.isList() || !node.lists) return true;
  const ListRules& rules = *node.lists;
  const std::size_t count = value.items.size();
  if (std::string fault = countFault(rules.minItems, rules.maxItems, count, "elements"); !fault.empty()) {
    return refuse(value, std::move(fault));
  }
  bool good = !rules.uniqueItems || holdsUnique(value);
  if (!good && stops()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool isFirst = i < rules.prefixItems.size();
    const SchemaNode* schema = isFirst ? rules.prefixItems[i] : rules.items;
    if (schema == nullptr) break;
    if (evaluated != nullptr) evaluated->mark(i, count);
    if (holds(*schema, value.items[i], nullptr)) continue;
    good = false;
    if (stops()) return false;
  }
  return (rules.contains == nullptr || holdsContains(rules, value, evaluated)) && good;
}

bool SchemaCheck::holdsUnique(const Value& list) {
  std::vector<std::pair<std::string, std::size_t>> keys;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    keys.emplace_back(valueKey(list.items[i]), i);
    if (!spend(4 + keys.back().first.size() / 8)) return false;
  }
  std::sort(keys.begin(), keys.end());
  const auto twin = std::adjacent_find(keys.begin(), keys.end(),
                                       [](const auto& one, const auto& other) { return one.first == other.first; });
  if (twin == keys.end()) return true;
  return refuse(list, "must not have the same element twice, but has it at " + std::to_string(twin->second) + " and " +
                          std::to_string((twin + 1)->second));
}

bool SchemaCheck::holdsContains(const ListRules& rules, const Value& list, EvaluatedParts* evaluated) {
  const std::uint64_t least = rules.minContains.value_or(1);
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const bool isEnough = matching >= least && !rules.maxContains && evaluated == nullptr;
    if (isEnough || reached_) break;
    if (!holdsQuietly(*rules.contains, list.items[i], nullptr)) continue;
    ++matching;
    if (evaluated != nullptr) evaluated->mark(i, list.items.size());
  }
  std::string fault = countFault(least, rules.maxContains, matching, "elements that match contains");
  return fault.empty() || refuse(list, std::move(fault));
}

// --- maps --------------------------------------------------------------------------------------------------

bool SchemaCheck::holdsMap(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  if (!value.isMap() || !node.maps) return true;
  const MapRules& rules = *node.maps;
  std::string fault = countFault(rules.minProperties, rules.maxProperties, value.members.size(), "members");
  if (!fault.empty()) return refuse(value, std::move(fault));
  bool good = holdsRequired(rules, value);
  for (std::size_t i = 0; i < value.members.size(); ++i) {
    if (!good && stops()) return false;
    good = holdsMember(rules, value, i, evaluated) && good;
  }
  return good;
}

const Value* SchemaCheck::findMember(const Value& map, std::string_view name) {
  return spend(1 + map.members.size() / 8) ? map.find(name) : nullptr;
}

bool SchemaCheck::holdsRequired(const MapRules& rules, const Value& map) {
  bool good = true;
  for (const std::string_view name : rules.required) {
    if (findMember(map, name) != nullptr) continue;
    good = refuse(map, "must have the member " + base::quote(name));
    if (stops()) return false;
  }
  for (const auto& [name, needed] : rules.dependentRequired) {
    if (findMember(map, name) == nullptr) continue;
    for (const std::string_view other : needed) {
      if (findMember(map, other) != nullptr) continue;
      good = refuse(map, "must have the member " + base::quote(other) + ", because it has " + base::quote(name));
      if (stops()) return false;
    }
  }
  return good && !reached_;
}

bool SchemaCheck::holdsMember(const MapRules& rules, const Value& map, std::size_t index, EvaluatedParts* evaluated) {
  const auto& [name, position, value] = map.members[index];
  if (!spend(1 + name.size() / 64)) return false;
  const SchemaNode* own = findNamed(rules.properties, name);
  bool isKnown = own != nullptr;
  bool good = own == nullptr || holds(*own, value, nullptr);
  for (const auto& [pattern, schema] : rules.patternProperties) {
    if (name.size() > kMaxPatternedBytes) {
      return end(map, "has a name of more than " + std::to_string(kMaxPatternedBytes) +
                          " bytes, which no pattern is tried on");
    }
    if (!spend(pattern->stepsFor(name.size()))) return false;
    if (!pattern->matches(name)) continue;
    isKnown = true;
    good = holds(*schema, value, nullptr) && good;
  }
  if (!isKnown && rules.additional != nullptr) {
    isKnown = true;
    good = holds(*rules.additional, value, nullptr) && good;
  }
  if (isKnown && evaluated != nullptr) evaluated->mark(index, map.members.size());
  if (rules.names == nullptr) return good;
  Value key;
  key.kind = Value::Kind::kString;
  key.text = name;
  if (!holdsQuietly(*rules.names, key, nullptr))
    good = refuse(map, "must not have a member named " + base::quote(name));
  if (reached_.at == &key) reached_.at = &map;
  return good;
}

bool SchemaCheck::holdsUnevaluated(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated) {
  const std::size_t count = partCount(value);
  const SchemaNode& schema = value.isList() ? *node.lists->unevaluated : *node.maps->unevaluated;
  bool good = spend(count / 64);
  for (std::size_t i = 0; i < count; ++i) {
    if (evaluated->has(i)) continue;
    if (holds(schema, value.isList() ? value.items[i] : value.members[i].value, nullptr)) continue;
    good = false;
    if (stops()) return false;
  }
  return good && !reached_;
}

}  // namespace sluice::content
