// A SessionValue is the plain value of a session, before it is sealed: when the session began, and the endpoint to
// which it is bound.
//
// All values have the same size in bytes, so that the length reveals nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"

namespace sluice::exchange {

struct SessionValue {
  static constexpr std::size_t kSize = 36;

  base::WallTime begun;                  // to the millisecond
  std::uint64_t share = 0;               // SessionPolicy::shares
  std::optional<net::Address> endpoint;  // only of a Service

  std::string toBytes() const;
  /// Returns nullopt for bytes that toBytes() does not make.
  static std::optional<SessionValue> parse(std::string_view bytes);
};

}  // namespace sluice::exchange
