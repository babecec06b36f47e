// The address and port of one instance of a Service.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::routing {

struct Endpoint {
  std::string ip;  // IP literal
  std::uint16_t port = 0;

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

using Endpoints = std::vector<Endpoint>;  // sorted, without duplicates

}  // namespace sluice::routing
