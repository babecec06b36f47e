// Reads texts out of maps whose form is known, such as the answers of the admin port.
#pragma once

#include <string>
#include <string_view>

#include "proxy/content/value.h"

namespace sluice::content {

/// Returns the text of the scalar `key`; empty if there is none.
inline const std::string& memberText(const Value& map, std::string_view key) {
  static const std::string kNone;
  const Value* found = map.find(key);
  return found != nullptr ? found->text : kNone;
}

}  // namespace sluice::content
