// The revisions that are desired, published and served. They show people and other controllers the state of a reload.
//
// A value of the main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "config/ground/problem.h"
#include "proxy/base/clock.h"

namespace sluice::control {

/// The state of the configuration. The names are those of the admin document and of sluice_config_state.
enum class ConfigState {
  kInSync,
  kRollback,       // the desired configuration was refused, and the last good one is served
  kRollbackFailed  // it was refused, and there is no good one
};
inline constexpr ConfigState kConfigStates[] = {ConfigState::kInSync, ConfigState::kRollback,
                                                ConfigState::kRollbackFailed};

constexpr std::string_view configStateName(ConfigState state) {
  switch (state) {
    case ConfigState::kInSync:
      return "InSync";
    case ConfigState::kRollback:
      return "Rollback";
    case ConfigState::kRollbackFailed:
      break;
  }
  return "RollbackFailed";
}

/// The relation of the configuration that was read last to the served one.
enum class Standing : std::uint8_t {
  kServed,           // it is served; also if nothing was read yet
  kHeld,             // it is good, but must not be served yet
  kRefused,          // its content is at fault, and the last good one is served
  kUnavailable,      // it could not be read, which is tried again, and the last good one is served
  kRefusedAlone,     // its content is at fault, and there is no good one
  kUnavailableAlone  // it could not be read or served, which is tried again, and there is no good one
};

constexpr ConfigState configState(Standing standing) {
  switch (standing) {
    case Standing::kServed:
    case Standing::kHeld:
      return ConfigState::kInSync;
    case Standing::kRefused:
    case Standing::kUnavailable:
      return ConfigState::kRollback;
    case Standing::kRefusedAlone:
    case Standing::kUnavailableAlone:
      break;
  }
  return ConfigState::kRollbackFailed;
}

/// Returns true if the same configuration may be served later, so that it is tried again.
constexpr bool isUnavailable(Standing standing) {
  return standing == Standing::kUnavailable || standing == Standing::kUnavailableAlone;
}

/// Digests of configurations. All three are equal when everything is well.
struct Revisions {
  std::string desired;    // read last
  std::string published;  // handed to the workers last
  std::string served;     // served by all workers; empty if nothing is served

  Standing standing = Standing::kServed;
  base::WallTime since{};     // the time when state() began
  base::WallTime lastGood{};  // when the desired configuration was last the served one
  /// The problems of the desired configuration, and the reason if it was refused. Never null.
  std::shared_ptr<const config::Problems> problems = std::make_shared<const config::Problems>();

  ConfigState state() const { return configState(standing); }
};

}  // namespace sluice::control
