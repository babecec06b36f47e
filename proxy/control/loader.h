// A Loader turns the current configuration of a source into one that can be served, or gives the reason why it cannot
// be. It also keeps the last good one beyond the process's end.
//
// The LoadingThread implements it, and tests of the Reloader have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/state/generation.h"

namespace sluice::control {

/// A loaded configuration with everything that the workers need. It never changes and is shared.
struct Loaded {
  enum class Outcome : std::uint8_t {
    kServable,
    kUnchanged,   // the same configuration is served already
    kRefused,     // its content is at fault: reading it again has the same outcome
    kUnavailable  // it could not be read now
  };
  Outcome outcome = Outcome::kRefused;
  /// Null if there is none, which only happens with restore() and rescue().
  std::shared_ptr<const CompiledConfiguration> configuration;
  /// Set if it is servable. While nothing is served, a refused one may have it too: then its listeners are known, and
  /// answer every request with 500.
  std::shared_ptr<const Generation> generation;
  /// The problems of the configuration, and the reason if it is refused. Never null.
  std::shared_ptr<const config::Problems> problems = std::make_shared<const config::Problems>();
};

class Loader {
 public:
  virtual ~Loader() = default;
  using Done = std::function<void(Loaded&& loaded)>;
  /// Reads and compiles again, then calls `done` on the main thread in a later Turn, unless its loop has ended.
  /// `served` is the configuration that the new one follows; its members are null for the first one. The new one
  /// listens at none of the `unusable` places.
  virtual void load(const Loaded& served, compile::UnusablePlaces unusable, Done done) = 0;
  /// Does the same with the content that is served already, for an environment that has changed. If `newest` has a
  /// configuration, which was read later and is not served, Secrets and endpoints are taken from it.
  virtual void recompile(const Loaded& served, const Loaded& newest, compile::UnusablePlaces unusable, Done done) = 0;
  /// Does the same with the last good configuration of an earlier process, if one is kept.
  virtual void restore(compile::UnusablePlaces unusable, Done done) = 0;
  /// Does the same with the newest good configuration that the source keeps, if there is one.
  virtual void rescue(compile::UnusablePlaces unusable, Done done) = 0;
  /// Notes in the history of revisions that a configuration is served, which is not kept yet.
  virtual void remember(const Loaded& served) = 0;
  /// Keeps a configuration that is served as the last good one, and notes it in the history, which is kept, too.
  virtual void keep(const Loaded& served) = 0;
  /// Destroys a configuration that is no longer served, without blocking the main thread.
  virtual void discard(Loaded&& old) = 0;
  /// Forgets that the revision whose digest begins with `prefix` is tainted, and calls `done` on the main thread in a
  /// later Turn, with false unless there is exactly one such revision.
  virtual void clearTaint(std::string prefix, std::function<void(bool)> done) = 0;
};

}  // namespace sluice::control
