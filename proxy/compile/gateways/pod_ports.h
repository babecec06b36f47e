// The ports at which a process answers its operators and probes, unless its command line says otherwise. The Pods that
// a controller runs have them, so no listener of their Gateway can have them too.
#pragma once

#include <cstdint>

namespace sluice::compile {

inline constexpr std::uint16_t kAdminPort = 9901;
inline constexpr std::uint16_t kHealthPort = 9902;

/// Returns true for a port of a Pod that is not free for listeners.
constexpr bool isTakenInPods(std::uint16_t port) { return port == kAdminPort || port == kHealthPort; }

}  // namespace sluice::compile
