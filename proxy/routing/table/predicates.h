// The conditions of a match besides its path: method, header fields, query parameters (Gateway API HTTPRouteMatch).
//
// Immutable once built. The API leaves some choices, which are made as follows:
// - Lines of a repeated field are one value, joined by "," (RFC 9110 section 5.3). "host" is the authority as sent.
// - Only the first parameter of a name is used. Names and values are percent-decoded before they are compared, so that
//   no encoding can evade a match; "+" stays "+", a parameter without "=" has the empty value, and only "&" separates.
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

/// One header field or query parameter, and the condition on its value: a text, or an expression that matches all of
/// it.
struct Predicate {
  std::string name;  // of a header field in lower case
  std::variant<std::string, Regex> expected;
};

/// The part of a request from which a value comes.
enum class PredicateKind : std::uint8_t { kMethod, kHeader, kQuery };

/// The room in which a value is decoded, or joined from pieces. No exact value of the API is longer.
using ValueBuffer = std::array<char, 4096>;

/// Returns the value that predicates of that kind and name compare with their text: a view into the request or into
/// `buffer`. Returns nullopt if the request has none, and also if the value has to be joined and `buffer` is too small,
/// because then no text is equal to it. Allocates nothing.
std::optional<std::string_view> valueOf(const http::RequestHead& head, PredicateKind kind, std::string_view name,
                                        ValueBuffer& buffer);

/// The first condition that a request does not meet, if there is one.
struct Unmet {
  const Predicate* predicate = nullptr;  // null for a method
  PredicateKind kind = PredicateKind::kMethod;
  bool exists = false;
};

struct Predicates {
  std::string method;  // "": any
  std::vector<Predicate> headers;
  std::vector<Predicate> query;

  /// Returns the first condition, in the order of the members, that the request does not meet. Allocates only if an
  /// expression meets a repeated field or an encoded parameter of over 1 KiB.
  Unmet unmet(const http::RequestHead& head) const;
  bool hold(const http::RequestHead& head) const { return !unmet(head).exists; }
};

}  // namespace sluice::routing
