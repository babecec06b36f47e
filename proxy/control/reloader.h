// A Reloader brings another configuration into service: the source proposes it, it is compiled, its sockets are opened,
// it is published to all workers, and connections are accepted for it. Each step except the last two can refuse it. The
// old one is served as a whole until the last step is done.
//
// A place where the process cannot listen does not refuse a configuration that can be served at another one: it is
// compiled once more without that place, and served so. From then on the place is tried now and then.
//
// It decides and leaves the work to a Loader and a Publisher. It belongs to the main thread.
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

  using Started = std::function<void(const base::Status&)>;
  /// Loads the first configuration and opens its sockets, then calls `started`. It is served as soon as workers are
  /// made from it. Errors are those of the configuration; all but their last line have been logged. Call it once.
  void start(const Started& started);
  /// Call it once, after started(), when there are workers. From then on others can be published.
  void begin();

  /// Reads the configuration again, and serves it if it is another one and can be served. Returns at once. Calls during
  /// a reload, or before begin(), are done together afterwards.
  void reload();
  /// Begins no further reload and drops a configuration that is being loaded or opened. One that workers already know
  /// is brought to its end, because otherwise its new sockets would accept connections that no worker serves.
  void stop();

  /// Returns true while a configuration is on its way.
  bool reloading() const { return phase_ > Phase::kServing; }

  /// The served configuration and generation; null until started().
  const std::shared_ptr<const CompiledConfiguration>& configuration() const { return served_.configuration; }
  const std::shared_ptr<const Generation>& generation() const { return served_.generation; }
  const Revisions& revisions() const { return revisions_; }
  /// Returns a text that changes whenever configuration() or revisions() has changed.
  std::string version() const;

 private:
  enum class Phase : std::uint8_t {
    kStarting,  // there are no workers to publish to
    kServing,   // no reload is in progress; unusable places are tried
    kLoading,
    kOpening,  // includes the wait for the next attempt
    kPublishing,
    kAccepting
  };
  /// The next action when no reload is in progress any more.
  enum class Then : std::uint8_t { kRest, kReload, kStop };

  void onTimer() override;
  void loadFirst(UnusablePlaces unusable, const Started& started);
  base::Status adoptFirst(Loaded&& first, UnusablePlaces& unusable);
  void load(UnusablePlaces unusable);
  void take(Loaded&& loaded);
  void open();
  void tryUnusablePlaces();
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
  std::size_t failures_ = 0;  // failed attempts to open the candidate's sockets
  Revisions revisions_;
  std::uint64_t adoptions_ = 0;
};

}  // namespace sluice::control
