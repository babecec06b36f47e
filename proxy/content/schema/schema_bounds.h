// The bounds of JSON Schemas, and of the work of checking a value against one.
//
// Schemas and values are read from objects that anybody with a namespace may write. One that exceeds a bound gets an
// error that names the bound, so that every check ends.
#pragma once

#include <cstddef>

namespace sluice::content {

// A schema as a document.
inline constexpr std::size_t kMaxSchemaBytes = 256 * 1024;
inline constexpr std::size_t kMaxSchemaDepth = 32;
inline constexpr std::size_t kMaxSchemaNodes = 20000;
/// The length of a URI that `$id` gives to a schema, once it is resolved.
inline constexpr std::size_t kMaxSchemaUriBytes = 1024;
/// The number of different regular expressions.
inline constexpr std::size_t kMaxSchemaPatterns = 256;
/// The memory of all regular expressions of a schema, which they share equally, and the most that one of them gets.
inline constexpr std::size_t kSchemaPatternMemory = 16 * 1024 * 1024;
inline constexpr std::size_t kMaxPatternMemory = 1024 * 1024;
/// The number of significant digits of `multipleOf`.
inline constexpr std::size_t kMaxDivisorDigits = 18;

// A check of one value.
/// The number of steps that a check may take. One step checks a part of the value against a schema, or reads 64 bytes.
/// Memory costs steps too, except for a copy of the largest part that is compared as a whole.
inline constexpr std::size_t kMaxSchemaSteps = 1'000'000;
/// The number of nested schemas that a value is checked against at one time.
inline constexpr std::size_t kMaxCheckDepth = 1000;
/// A longer string is a fault wherever a pattern applies to it.
inline constexpr std::size_t kMaxPatternedBytes = 1024;
inline constexpr std::size_t kMaxViolations = 20;

// The defaults that one value gets. There may be a great many values, so these are small.
inline constexpr std::size_t kMaxFilledValues = 2000;
inline constexpr std::size_t kMaxFilledBytes = 128 * 1024;
/// The deepest nesting of a value with its defaults.
inline constexpr std::size_t kMaxFilledDepth = 64;

}  // namespace sluice::content
