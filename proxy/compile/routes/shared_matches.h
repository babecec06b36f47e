// Tells which matches several routes have, so that the older of two routes can take the requests of both.
//
// Filled once per compilation, from all its routes; a match that one route alone has costs nothing more.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/compile/routes/compile_route.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::compile {

class SharedMatches {
 public:
  /// Adds the matches of a route. The route outlives this object.
  void add(const RoutePlan& route);
  /// Returns the number of a match that several routes have; nullopt if one route alone has it.
  std::optional<std::uint32_t> numberOf(std::string_view identity) const;

 private:
  struct Owners {
    std::uint32_t number;
    const RoutePlan* first;
    bool several = false;
  };
  routing::TextMap<Owners> owners_;
};

}  // namespace sluice::compile
