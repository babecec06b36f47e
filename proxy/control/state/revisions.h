// The revisions that are desired, published and served. They tell people and other controllers the state of a reload.
//
// A value of the main thread.
#pragma once

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

/// Digests of configurations. All three are equal when everything is well.
struct Revisions {
  std::string desired;    // read last
  std::string published;  // handed to the workers last
  std::string served;     // served by all workers; empty if nothing is

  ConfigState state = ConfigState::kInSync;
  base::WallTime since{};     // the time when the state began
  base::WallTime lastGood{};  // when the desired configuration was last the served one
  /// The problems of the desired configuration, and the reason if it was refused. Never null.
  std::shared_ptr<const config::Problems> problems = std::make_shared<const config::Problems>();
  bool waits = false;  // what is desired is good, and is not to be served yet; the state is InSync
};

}  // namespace sluice::control
