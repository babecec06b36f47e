#include "proxy/routing/policy/header_edit.h"

namespace sluice::routing {

void HeaderEdit::apply(base::Arena& arena, http::Headers& headers) const {
  for (const auto& [name, value] : set) {
    headers.removeTwins(name);
    headers.add(arena, name, value);
  }
  for (const auto& [name, value] : add) headers.add(arena, name, value);
  for (const std::string& name : remove) headers.removeTwins(name);
}

void HeaderEdit::withhold(http::Headers& fields) const {
  for (const auto& [name, value] : set) fields.removeTwins(name);
  for (const std::string& name : remove) fields.removeTwins(name);
}

}  // namespace sluice::routing
