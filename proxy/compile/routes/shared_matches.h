// SharedMatches finds the matches that several routes have, so that the older of two routes can take the requests of
// both.
//
// It is filled once per compilation, from all routes. A match of a single route costs no further memory or time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/compile/routes/compile_route.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::compile {

class SharedMatches {
 public:
  /// Adds the matches of a route. The route must outlive this object.
  void add(const RoutePlan& route);
  /// Returns the number of a match that several routes have; nullopt if only one route has it.
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
