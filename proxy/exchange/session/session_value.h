// What a session's value says before it is sealed: since when it is, and where it is.
//
// A value; as bytes it has one size, whatever it says, so that its length tells nothing either.
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
  std::optional<net::Address> endpoint;  // of a Service

  std::string toBytes() const;
  /// nullopt for what toBytes() does not make.
  static std::optional<SessionValue> parse(std::string_view bytes);
};

}  // namespace sluice::exchange
