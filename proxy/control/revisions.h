// The revisions that are desired, published and served. They tell people and other controllers the state of a reload.
//
// A value of the main thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice::control {

/// The state of the configuration. The names are those of the admin document and of sluice_config_state.
enum class ConfigState { kInSync, kRollback };

constexpr std::string_view configStateName(ConfigState state) {
  return state == ConfigState::kInSync ? "InSync" : "Rollback";
}

/// Digests of configurations. All three are equal when everything is well.
struct Revisions {
  std::string desired;    // read last
  std::string published;  // handed to the workers last
  std::string served;     // served by all workers

  /// kRollback if the desired configuration was refused and the last good one is served.
  ConfigState state = ConfigState::kInSync;
};

}  // namespace sluice::control
