// The URLRewrite filter changes a request on its way to a Backend (Gateway API HTTPURLRewriteFilter).
//
// Immutable, part of a Rule or of one of its weighted backends; any thread. It is applied to the head of each attempt,
// so that routes always match the target that the client sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/arena.h"

namespace sluice::routing {

enum class PathRewrite : std::uint8_t { kNone, kFullPath, kPrefixMatch };

struct UrlRewrite {
  std::string authority;  // in place of the Backend's; empty: the Backend's stays
  PathRewrite path = PathRewrite::kNone;
  /// In the normal form of http/target. For kPrefixMatch without a "/" at its end, so "/" is empty.
  std::string replacement;
  std::string prefix;  // kPrefixMatch: the one that the rule matches, without a "/" at its end

  bool empty() const { return authority.empty() && path == PathRewrite::kNone; }
  /// Returns the target in its new form, which is normal again: the query stays, and "*" (OPTIONS) has no path to
  /// rewrite. The rule's one match is the prefix, so `target` begins with it, but its segments may have parameters
  /// where the listener ignores these; they go together with the prefix.
  std::string_view rewritten(base::Arena& arena, std::string_view target) const;
};

}  // namespace sluice::routing
