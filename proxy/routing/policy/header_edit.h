// RequestHeaderModifier and ResponseHeaderModifier remove, set and add fields of a section (Gateway API
// HTTPHeaderFilter).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/http/headers.h"

namespace sluice::routing {

struct HeaderEdit {
  // Names in lower case, checked by compile(): no framing, hop-by-hop or Host field except `authority` below.
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::pair<std::string, std::string>> add;
  std::vector<std::string> remove;
  /// The value of a `set` of Host, which replaces the authority instead of a field line; empty: the authority stays.
  std::string authority;

  /// Applies the edit. The twins of a field that is set or removed are removed, too (http::areTwins), because otherwise
  /// a peer could send it once more. The strings in `headers` are then views into this object, which outlives the
  /// exchange (the rule is pinned).
  void apply(base::Arena& arena, http::Headers& headers) const;
  /// Removes the same fields from the trailers, where they would undo the edit.
  void withhold(http::Headers& fields) const;
};

}  // namespace sluice::routing
