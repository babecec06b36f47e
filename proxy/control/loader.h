// A Loader makes the configuration that a source has now into one that can be served, or says why it cannot be.
//
// The LoadingThread is one, and tests of the Reloader have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proxy/control/configuration.h"
#include "proxy/control/generation.h"

namespace sluice::control {

/// This is a configuration, and as much of it as the workers need. It never changes, and is shared by whoever reads it.
struct Loaded {
  enum class Outcome : std::uint8_t {
    kServable,
    kUnchanged,  // there is nothing in it that is not served already
    kRefused
  };
  Outcome outcome = Outcome::kRefused;
  std::shared_ptr<const Configuration> configuration;
  std::shared_ptr<const Generation> generation;  // of one that is servable
  std::string refusal;                           // why it is refused
};

class Loader {
 public:
  virtual ~Loader() = default;
  using Done = std::function<void(Loaded&& loaded)>;
  /// Reads and compiles anew, then calls `done` on the main thread in a later Turn, unless its loop has ended. `served`
  /// is what the new one follows; of the first one both are null.
  virtual void load(const Loaded& served, Done done) = 0;
  /// Destroys what is served no more where no main thread waits for it.
  virtual void discard(Loaded&& old) = 0;
};

}  // namespace sluice::control
