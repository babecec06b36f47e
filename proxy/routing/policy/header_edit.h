// What RequestHeaderModifier and ResponseHeaderModifier do to a section: remove, set, add (Gateway API
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
  /// A `set` of Host: replaces the authority instead of a field line. Empty: leave it.
  std::string authority;

  /// What is set or removed takes its twins with it (http::areTwins), or a peer could say it once more beside or in the
  /// place of what is set. The strings in `headers` are then views into this object, which outlives the exchange (the
  /// rule is pinned).
  void apply(base::Arena& arena, http::Headers& headers) const;
  /// Removes the same from another section of the message, where it would undo the edit: trailers.
  void withhold(http::Headers& fields) const;
};

}  // namespace sluice::routing
