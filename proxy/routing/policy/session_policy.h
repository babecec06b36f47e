// sessionPersistence of a rule (GEP-1619) in the form that workers use: how clients carry a session, how long it lasts,
// and how its value names the weighted backends of the rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"

namespace sluice::routing {

struct SessionPolicy {
  bool byHeader = false;  // otherwise by cookie
  /// The name as configured, in lower case for a header field. Without one it is "sluice-session-" and 16 digits of the
  /// SHA-256 of the rule: of its route's kind and name and its own name, or its place if it has none.
  std::string name;
  /// The context for which a value is sealed: the rule, as above, and `name`. The value means nothing at another rule.
  std::string scope;
  std::optional<base::Duration> absoluteTimeout;  // given if `permanent`
  bool permanent = false;                         // the cookie outlives the browser's session
  /// The paths of the rule's matches, without a "/" at the end, if a cookie for them covers all requests that the
  /// matches take.
  std::vector<std::string> paths;
  /// The tag of each weighted backend in a value, by its position. It is made of the reference, so it stays when the
  /// list is reordered.
  std::vector<std::uint64_t> shares;

  /// Returns the Path of a cookie that is set in answer to that path (RFC 6265 section 5.1.4): the longest of `paths`
  /// above it, or "/".
  std::string_view cookiePath(std::string_view requestPath) const;
};

}  // namespace sluice::routing
