// sessionPersistence of a rule (GEP-1619) in the form that workers ask: how clients carry a session, how long it lasts,
// and what is written of the shares that it is with.
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
  /// As it was written, in lower case if it is a header field's; without one, "sluice-session-" and 16 digits of the
  /// SHA-256 of the rule: of its route's kind and name and of its own, or of its place if it has none.
  std::string name;
  /// What a value is sealed for: the rule, as above, and `name`. It means nothing at another one.
  std::string scope;
  std::optional<base::Duration> absoluteTimeout;  // given if `permanent`
  bool permanent = false;                         // the cookie outlives the browser's session
  /// Of the rule's matches, without a "/" at the end, where a cookie can be sent back to from all that they take.
  std::vector<std::string> paths;
  /// What stands for each share of the rule in a value, by its place: of its reference, wherever in the list it stands.
  std::vector<std::uint64_t> shares;

  /// The Path of a cookie set in answer to that path (RFC 6265 section 5.1.4): the longest of `paths` that it is below,
  /// or "/".
  std::string_view cookiePath(std::string_view requestPath) const;
};

}  // namespace sluice::routing
