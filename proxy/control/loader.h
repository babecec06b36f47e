// A Loader turns the current configuration of a source into one that can be served, or gives the reason why it cannot
// be.
//
// The LoadingThread implements it, and tests of the Reloader have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proxy/control/compiled_configuration.h"
#include "proxy/control/generation.h"

namespace sluice::control {

/// A loaded configuration with everything that the workers need. It never changes and is shared.
struct Loaded {
  enum class Outcome : std::uint8_t {
    kServable,
    kUnchanged,  // it contains nothing that is not served already
    kRefused
  };
  Outcome outcome = Outcome::kRefused;
  std::shared_ptr<const CompiledConfiguration> configuration;
  std::shared_ptr<const Generation> generation;  // set if it is servable
  std::string refusal;                           // the reason why it is refused
};

class Loader {
 public:
  virtual ~Loader() = default;
  using Done = std::function<void(Loaded&& loaded)>;
  /// Reads and compiles anew, then calls `done` on the main thread in a later Turn, unless its loop has ended. `served`
  /// is the configuration that the new one follows; its members are null for the first one. The new one listens at none
  /// of the `unusable` places.
  virtual void load(const Loaded& served, UnusablePlaces unusable, Done done) = 0;
  /// Destroys a configuration that is no longer served, without blocking the main thread.
  virtual void discard(Loaded&& old) = 0;
};

}  // namespace sluice::control
