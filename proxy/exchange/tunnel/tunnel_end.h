// Why a tunnel has ended, as logs and metrics name it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::exchange {

enum class TunnelEnd : std::uint8_t {
  kClient,   // the client has ended its way first, or has gone
  kBackend,  // the destination has
  kIdle,     // timeouts.tunnelIdle, or the time of a policy
  kTotal,    // timeouts.tunnel
  kPolicy,   // policies deny it by its first bytes
  kDrain,    // the process has ended
  kError
};
inline constexpr std::array<std::string_view, 7> kTunnelEnds = {"client", "backend", "idle", "total",
                                                                "policy", "drain",   "error"};
constexpr std::string_view tunnelEndName(TunnelEnd end) { return kTunnelEnds[static_cast<std::size_t>(end)]; }

}  // namespace sluice::exchange
