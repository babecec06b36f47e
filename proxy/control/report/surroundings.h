// Adds the problems of a configuration that depend on the time and on the machine, which compile() does not see:
// certificates that have expired or soon will, and an access log that cannot be opened. None of them keeps a
// configuration from being served.
#pragma once

#include <cstdint>

#include "proxy/base/clock.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::control {

/// The judgement of the path of the access log, by the process that asks.
enum class LogPathCheck : std::uint8_t {
  kNone,     // the configuration is served elsewhere
  kWarning,  // perhaps it is served on this machine
  kError     // it is served by this process, or on this machine
};

/// Returns these problems of the configuration.
config::Problems surroundingsOf(const CompiledConfiguration& configuration, base::WallTime now, LogPathCheck check);
/// Adds them behind those that the configuration has, so that they are never the reason of a refusal.
void addSurroundings(CompiledConfiguration& configuration, base::WallTime now, LogPathCheck check);

}  // namespace sluice::control
