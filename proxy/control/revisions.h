// Which configuration is wanted, handed out and served: what people and other controllers are told of a reload.
//
// A value of the main thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice::control {

/// The names are those of the admin document and of sluice_config_state.
enum class ConfigState { kInSync, kRollback };

constexpr std::string_view configStateName(ConfigState state) {
  return state == ConfigState::kInSync ? "InSync" : "Rollback";
}

/// Digests (C-12); all three are the same when everything is well.
struct Revisions {
  std::string desired;    // read last
  std::string published;  // handed to the workers last
  std::string served;     // by all of them

  /// What is wanted is not what is served: it was refused, and the last good one serves on.
  ConfigState state = ConfigState::kInSync;
};

}  // namespace sluice::control
