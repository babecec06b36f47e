// A Reloader brings another configuration into service: a source proposes it, it is compiled, what it listens on is
// opened, it is published to all workers, and connections are accepted by it. Each step but the last two can refuse it;
// until the last one has been taken the old one serves on, whole.
//
// It decides, and leaves the doing to a Loader and a Publisher. It belongs to the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/control/loader.h"
#include "proxy/control/publisher.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/revisions.h"
#include "proxy/net/timers.h"

namespace sluice::control {

class Reloader final : private net::Timer {
 public:
  struct Parts {
    Loader& loader;
    Publisher& publisher;
    ReloadObserver& observer;
    net::TimerWheel& timers;
    const base::Clock& clock;
  };
  /// The parts outlive it.
  explicit Reloader(const Parts& parts) : parts_(parts) {}

  /// Loads the first configuration and opens what it listens on, then calls `started`. It is served as soon as workers
  /// are made of it. Errors are config's, and have been logged but for their last line. Call it once.
  void start(std::function<void(const base::Status&)> started);
  /// Call it once, after started(), when there are workers: from then on others can be published.
  void begin();

  /// Reads the configuration again, and serves it if it is another one and can be served. Comes back at once; what is
  /// asked for meanwhile, or before begin(), is done afterwards, once.
  void reload();
  /// No reload begins any more, and what is being loaded or opened is forgotten. One that the workers were told of
  /// comes to its end, or its new sockets would take connections that nobody serves.
  void stop();

  /// A configuration is on its way.
  bool reloading() const { return phase_ > Phase::kServing; }

  /// These two say what is served; they are null until started().
  const std::shared_ptr<const Configuration>& configuration() const { return served_.configuration; }
  const std::shared_ptr<const Generation>& generation() const { return served_.generation; }
  const Revisions& revisions() const { return revisions_; }
  /// It is another one whenever configuration() or revisions() has changed.
  std::string version() const;

 private:
  enum class Phase : std::uint8_t {
    kStarting,  // there is nobody to publish to
    kServing,   // nothing is on its way
    kLoading,
    kOpening,  // and waiting for the next attempt
    kPublishing,
    kAccepting
  };
  /// This says what follows when nothing is on its way any more.
  enum class Then : std::uint8_t { kRest, kReload, kStop };

  void onTimer() override { open(); }
  base::Status adoptFirst(Loaded&& first);
  void take(Loaded&& loaded);
  void open();
  void publish();
  void accept();
  void finish();
  void refuse(std::string_view reason);
  void end();

  const Parts parts_;
  Phase phase_ = Phase::kStarting;
  Then then_ = Then::kRest;
  Loaded served_;
  Loaded candidate_;
  std::size_t failures_ = 0;  // to open what the candidate listens on
  Revisions revisions_;
  std::uint64_t adoptions_ = 0;
};

}  // namespace sluice::control
