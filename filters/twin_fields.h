// Removal of header fields together with those that some server would take for them (http::areTwins). Pure function.
#pragma once

#include <string_view>

#include "proxy/http/headers.h"

namespace sluice::filters {

/// Removes the fields of that name and their twins.
inline void removeTwins(http::Headers& headers, std::string_view name) {
  headers.removeIf([name](const http::Field& field) { return http::areTwins(field.name, name); });
}

}  // namespace sluice::filters
