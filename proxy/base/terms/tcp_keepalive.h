// TcpKeepalive sets when TCP probes an idle connection, so that a peer that has gone is noticed. A value; the defaults
// are the kernel's.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/base/clock.h"

namespace sluice::base {

struct TcpKeepalive {
  static constexpr std::uint32_t kMostProbes = 127;  // the bounds of the kernel
  static constexpr std::chrono::seconds kLongestTime{32767};

  std::uint32_t probes = 9;                        // without an answer, after which the connection is lost
  Duration idleTime = std::chrono::seconds(7200);  // before the first probe; in whole seconds
  Duration interval = std::chrono::seconds(75);    // between two probes; in whole seconds

  friend bool operator==(const TcpKeepalive&, const TcpKeepalive&) = default;
};

}  // namespace sluice::base
