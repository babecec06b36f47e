// Header fields that some server would take for one another: who hands fields to programs as variables takes
// "x_api_key" for "x-api-key" (RFC 3875 section 4.1.18).
//
// Pure functions; names are in lower case, as all names of a head.
#pragma once

#include <algorithm>
#include <string_view>

#include "proxy/http/headers.h"

namespace sluice::filters {

inline bool areTwins(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return plain(x) == plain(y); });
}

/// Removes the fields of that name and their twins.
inline void removeTwins(http::Headers& headers, std::string_view name) {
  headers.removeIf([name](const http::Field& field) { return areTwins(field.name, name); });
}

}  // namespace sluice::filters
