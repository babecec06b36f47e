#include "proxy/routing/header_edit.h"

namespace sluice::routing {

void HeaderEdit::apply(base::Arena& arena, http::Headers& headers) const {
  for (const auto& [name, value] : set) headers.set(arena, name, value);
  for (const auto& [name, value] : add) headers.add(arena, name, value);
  for (const std::string& name : remove) headers.remove(name);
}

}  // namespace sluice::routing
