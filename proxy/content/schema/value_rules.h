// The rules of a schema for one value without a look at its parts: its kind, its size, its number.
//
// Pure functions. Each returns the fault of a value as a message, or "" if there is none; a value of a kind to which
// the rule does not apply has no fault.
#pragma once

#include <cstddef>
#include <string>

#include "proxy/content/schema/compiled_schema.h"
#include "proxy/content/value.h"

namespace sluice::content {

std::string kindFault(SchemaKinds kinds, const Value& value);
std::string numberFault(const NumberRules& rules, const Value& value);
/// Checks the length of a string in characters, but no pattern.
std::string lengthFault(const StringRules& rules, const Value& value);
/// `parts` names the parts that the limits count: "elements" or "members".
std::string countFault(const std::optional<std::uint64_t>& least, const std::optional<std::uint64_t>& most,
                       std::size_t count, std::string_view parts);

}  // namespace sluice::content
