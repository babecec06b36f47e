// Checks values against a compiled schema.
//
// Lives for one check, or for several that share their steps. The stack that it takes is bounded by kMaxCheckDepth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/content/schema/compiled_schema.h"
#include "proxy/content/schema/evaluated_parts.h"
#include "proxy/content/schema/schema_bounds.h"
#include "proxy/content/schema/schema_fault.h"

namespace sluice::content {

class SchemaCheck {
 public:
  explicit SchemaCheck(const CompiledSchema& schema) : schema_(schema) {}

  /// Returns the faults of `value`, at most kMaxViolations. A check that reaches a bound has that as its last fault.
  std::vector<SchemaFault> run(const SchemaNode& node, const Value& value);

 private:
  using Rule = bool (SchemaCheck::*)(const SchemaNode&, const Value&, EvaluatedParts*);

  /// Each of the following returns false if the value is refused, or the check has reached a bound. They mark the parts
  /// of the value that they apply schemas to, unless `evaluated` is null.
  bool holds(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsQuietly(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  /// Checks a value against one of several alternatives, without noting faults. Marks parts only if the alternative
  /// accepts the value.
  bool holdsBranch(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsInScope(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsScalars(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsPattern(const SchemaPattern& pattern, const Value& value);
  bool holdsInPlace(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsAnyOf(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated);
  bool holdsOneOf(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated);
  bool holdsCondition(const InPlaceRules& rules, const Value& value, EvaluatedParts* evaluated);
  bool holdsList(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsUnique(const Value& list);
  bool holdsContains(const ListRules& rules, const Value& list, EvaluatedParts* evaluated);
  bool holdsMap(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);
  bool holdsRequired(const MapRules& rules, const Value& map);
  bool holdsMember(const MapRules& rules, const Value& map, std::size_t index, EvaluatedParts* evaluated);
  bool holdsUnevaluated(const SchemaNode& node, const Value& value, EvaluatedParts* evaluated);

  bool isAmong(const AllowedValues& allowed, const Value& value);
  const SchemaNode& dynamicTarget(const InPlaceRules& rules);
  const Value* findMember(const Value& map, std::string_view name);

  /// Returns false, and ends the check, if fewer steps are left.
  bool spend(std::size_t steps);
  /// Returns false, and notes the fault unless the check is quiet or there is none (an empty message).
  bool refuse(const Value& at, std::string message);
  /// Ends the check.
  bool end(const Value& at, std::string message);
  /// Returns true if a refused value need not be checked further.
  bool stops() const { return quiet_ > 0 || reached_ || faults_.size() >= kMaxViolations; }

  const CompiledSchema& schema_;
  std::size_t steps_ = kMaxSchemaSteps;  // steps that are left
  std::size_t depth_ = 0;
  std::size_t quiet_ = 0;             // how many schemas around this one may refuse without a fault
  std::vector<std::uint32_t> scope_;  // the resources that the check is inside of, outermost first
  std::vector<SchemaFault> faults_;
  SchemaFault reached_;  // the bound that ended the check
  const Value* whole_ = nullptr;
};

}  // namespace sluice::content
