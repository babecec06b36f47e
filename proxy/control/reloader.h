// A Reloader brings configurations into service: the source proposes one, it is compiled, its sockets are opened, it is
// published to all workers, and connections are accepted for it. The old one is served as a whole until the last step
// is done.
//
// Content that cannot be served is refused, and the last good configuration stays (Rollback): the one that is served,
// or at the start of the process the one that an earlier process or the source has kept. The latter is served, too, if
// the first configuration has to wait. As long as there is none (RollbackFailed) the process waits for the source to
// become good. Until then listeners that are known answer 500.
//
// A configuration is not refused because of an address or port where the process cannot listen. It is compiled once
// more without these places, and they are tried from then on, as is a source that could not be read. The served
// configuration is compiled again when a place can be used, when a processor may find the objects that it needs, when
// the server of a processor has another state, or when a key pair that serves on (config/load/last_pairs.h) has
// expired, even while the source is refused. A set that was read and is not served, because it is refused or must wait,
// still supplies the served configuration with its Secrets and endpoints.
//
// It decides, by the tables of reload_transitions.h, and leaves the work to a Loader, a Publisher and the caller of
// start(). It belongs to the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/random.h"
#include "proxy/base/result.h"
#include "proxy/control/loader.h"
#include "proxy/control/paced_keeping.h"
#include "proxy/control/publisher.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/reload_transitions.h"
#include "proxy/control/state/reloadable.h"
#include "proxy/control/state/revisions.h"
#include "proxy/net/timers.h"

namespace sluice::control {

/// Decides whether a good configuration has to wait before it is served.
class ServingGate {
 public:
  /// Returns false if the configuration that was read must not replace the served one yet; reload() is called when it
  /// may.
  virtual bool mayServe(const CompiledConfiguration& read) = 0;

 protected:
  ~ServingGate() = default;
};

class Reloader final : public Reloadable, private net::Timer {
 public:
  struct Parts {
    Loader& loader;
    Publisher& publisher;
    net::TimerWheel& timers;
    const base::Clock& clock;
    std::uint64_t randomSeed = 1;  // of the delays between attempts
    ServingGate* gate = nullptr;   // without it, everything may be served at once
  };
  /// The parts outlive it.
  explicit Reloader(const Parts& parts)
      : parts_(parts), random_(parts.randomSeed), keeping_(parts.loader, parts.timers, parts.clock, served_) {}

  /// Adds an observer, which is notified after those that were added before. It outlives the last reload.
  void observe(ReloadObserver& observer) { observers_.push_back(&observer); }

  /// Makes workers that serve the generation, whose sockets are open, and ends those that it made before. If the
  /// outcome is a refusal, the workers refuse every request at its listeners. If it fails, because of the environment,
  /// there are no workers.
  using MakeWorkers = std::function<base::Status(const Loaded&)>;
  /// Serves the last good configuration that is kept, if there is one, and reads the source. Workers are made for the
  /// first configuration that can be served, and before that for the listeners of one that is refused; later ones are
  /// published to them. Call it once.
  void start(MakeWorkers makeWorkers);

  /// Reads the configuration again, and serves it if it is another one and can be served. Returns at once. Calls during
  /// a reload are done together afterwards.
  void reload() override;
  /// Forgets that the revision whose digest begins with `prefix` is tainted, and reads the configuration again. Calls
  /// `done` in a later Turn, with false unless there was exactly one such revision.
  void retry(std::string prefix, std::function<void(bool)> done);
  /// Begins no further reload and drops a configuration that is being loaded. One that was published to the workers is
  /// brought to its end, because otherwise its new sockets would accept connections that no worker serves. What is
  /// served is kept for the next process.
  void stop();

  /// Returns true while a configuration is on its way to the workers.
  bool reloading() const { return state_ > ReloadState::kServing; }

  /// The served configuration and generation; null until there is one.
  const std::shared_ptr<const CompiledConfiguration>& configuration() const { return served_.configuration; }
  const std::shared_ptr<const Generation>& generation() const { return served_.generation; }
  /// Returns the served configuration, or else the one that was read last; null until one was read.
  const std::shared_ptr<const CompiledConfiguration>& known() const {
    return served_.configuration != nullptr ? served_.configuration : refused_.configuration;
  }
  const Loaded& served() const { return served_; }
  const Revisions& revisions() const { return revisions_; }
  /// Returns a text that changes whenever known() or revisions() has changed.
  std::string version() const { return std::to_string(changes_); }

 private:
  void onTimer() override { raise(ReloadEvent::kDue); }
  void raise(ReloadEvent event);
  // Each returns the event that the action raises.
  std::optional<ReloadEvent> act(ThenAction action);
  std::optional<ReloadEvent> act(ReloadAction action);
  std::optional<ReloadEvent> conclude(ReloadAction action);
  ReloadEvent tell(ReloadAction action);
  ReloadEvent openFirst();
  ReloadEvent open();
  ReloadEvent admit();
  bool isHeldBack() const;
  ReloadEvent makeWorkers();
  ReloadEvent wait();
  ReloadEvent refreshes() const;
  std::optional<ReloadEvent> look();

  template <typename Tell>
  void tellObservers(const Tell& tell);
  Loader::Done taking();
  void read();
  void recompile();
  std::optional<ReloadEvent> publish();
  std::optional<ReloadEvent> accept();
  void serveFirst();
  std::string takeOver();
  void keepServed();
  void serveOn(Standing standing);
  void stand(Standing standing, std::shared_ptr<const config::Problems> problems);
  void discard(Loaded& loaded);
  void lookLater();

  const Parts parts_;
  base::Random random_;
  std::vector<ReloadObserver*> observers_;
  MakeWorkers makeWorkers_;
  ReloadState state_ = ReloadState::kRestoring;
  Then then_ = Then::kRest;
  Loaded served_;
  Loaded candidate_;                 // the loaded configuration, until it is served, refused or dropped
  Loaded newest_;                    // the one that was read last, while the served one is refreshed or rescued
  Loaded refused_;                   // the last one, while nothing is served
  compile::UnusablePlaces without_;  // the places that the next loaded configuration has to leave out
  std::size_t retries_ = 0;          // attempts since the source last changed
  Revisions revisions_;
  std::uint64_t changes_ = 0;
  PacedKeeping keeping_;
};

}  // namespace sluice::control
