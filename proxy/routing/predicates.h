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

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/regex.h"

namespace sluice::routing {

/// One header field or query parameter, and what its value must be: the text itself, or an expression that matches all
/// of it.
struct Predicate {
  std::string name;  // of a header field in lower case
  std::variant<std::string, Regex> expected;
};

struct Predicates {
  std::string method;  // "": any
  std::vector<Predicate> headers;
  std::vector<Predicate> query;

  /// All of them hold. Allocates only where an expression meets a repeated field or an encoded parameter of over 1 KiB.
  bool hold(const http::RequestHead& head) const;
};

}  // namespace sluice::routing
