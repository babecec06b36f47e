// What a match asks of a request besides its path: method, header fields, query parameters (Gateway API
// HTTPRouteMatch).
//
// Immutable once built. Where the API leaves a choice:
// - Lines of a repeated field count as one value, joined by "," (RFC 9110 section 5.3). "host" stands for the authority
// as sent.
// - The first parameter of a name counts. Names and values are percent-decoded before they are compared, so that an
// encoding can
//   not walk around a match; "+" stays "+", a parameter without "=" has the empty value, "&" alone separates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/regex.h"

namespace sluice::routing {

/// One header field or query parameter, and what its value must be: the text itself, or an expression that matches all
/// of it.
struct Predicate {
  std::string name;  // of a header field in lower case
  std::variant<std::string, Regex> expected;
};

/// What of a request a value is.
enum class PredicateKind : std::uint8_t { kMethod, kHeader, kQuery };

/// Where a value is put together that comes in pieces, or decoded. No exact value of the API is longer.
using ValueBuffer = std::array<char, 4096>;

/// What predicates of that kind and name compare with their text: a view into the request or into `buffer`. nullopt if
/// the request has none, and also if it has to be put together and `buffer` is too small: no text of its size is equal
/// then. Allocates nothing.
std::optional<std::string_view> valueOf(const http::RequestHead& head, PredicateKind kind, std::string_view name,
                                        ValueBuffer& buffer);

struct Predicates {
  std::string method;  // "": any
  std::vector<Predicate> headers;
  std::vector<Predicate> query;

  /// All of them hold. Allocates only where an expression meets a repeated field or an encoded parameter of over 1 KiB.
  bool hold(const http::RequestHead& head) const;
};

}  // namespace sluice::routing
