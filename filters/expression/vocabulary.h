// The vocabulary lists the names and operators that expressions may use. The compiler looks names up here, and the
// reference lists every row.
//
// Constant tables; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::filters {

/// The message whose header and body expressions edit.
enum class MessageSide : std::uint8_t { kRequest, kResponse };

enum class Attribute : std::uint8_t {
  kRequestMethod,
  kRequestScheme,
  kRequestHost,
  kRequestPath,
  kRequestUrlPath,
  kRequestQuery,
  kRequestHeaders,
  kRequestBody,
  kResponseCode,
  kResponseHeaders,
  kResponseBody,
  kSourceAddress,
  kSourceNamespace,
  kSourceServiceAccount,
  kSourcePrincipal,
  kSourceAssurance
};

struct AttributeRow {
  std::string_view name;  // "request.method"
  Attribute attribute;
};

enum class Function : std::uint8_t {
  kHas,
  kJson,
  kSize,
  kString,
  kInt,
  kDouble,
  kStartsWith,
  kEndsWith,
  kContains,
  kMatches,
  kLowerAscii,
  kUpperAscii,
  kTrim,
  kReplace,
  kSplit,
  kSubstring
};

struct FunctionRow {
  std::string_view name;
  Function function;
  bool asCall;         // size(x)
  bool asMember;       // x.size()
  std::size_t fewest;  // arguments, with the one in front of the dot
  std::size_t most;
  std::string_view shown;  // the form that the reference shows
  /// The form of a use: each "$" is any expression in parentheses.
  std::string_view form;
};

/// A part of the grammar.
struct FormRow {
  std::string_view shown;
  std::string_view form;
};

std::span<const AttributeRow> expressionAttributes();
std::span<const FunctionRow> expressionFunctions();
std::span<const FormRow> expressionForms();

}  // namespace sluice::filters
