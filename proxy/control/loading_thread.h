// The thread that reads, compiles and destroys configurations. Each of these may take seconds, during which the main
// thread must answer probes and signals.
//
// The main thread creates and uses it. The results that it hands over are complete and never change.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "proxy/base/secret.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/loader.h"
#include "proxy/control/report/condition_log.h"
#include "proxy/control/report/surroundings.h"
#include "proxy/control/source.h"
#include "proxy/control/state/generation.h"
#include "proxy/control/state/ledger.h"
#include "proxy/control/state/revision_store.h"
#include "proxy/net/worker.h"
#include "proxy/observe/events.h"
#include "proxy/observe/log.h"

namespace sluice::control {

class LoadingThread final : public Loader {
 public:
  /// References outlive it. `stateFolder` is where the last good configuration is kept beyond the process's end; empty:
  /// where the settings say. `events` belongs to the main thread; null: no events for objects that are not fully
  /// served. Gateways get their addresses from `pool`, if there is one. `logPath` says how the path of the access log
  /// is judged.
  LoadingThread(Source& source, const processing::BuiltinTypes& processors, observe::Log& log, net::Worker& main,
                std::string stateFolder = {}, observe::EventRing* events = nullptr,
                std::optional<compile::AddressPool> pool = std::nullopt, LogPathCheck logPath = LogPathCheck::kNone);
  /// Waits until the current job, whose result is dropped, and all jobs that store files are done.
  ~LoadingThread() override;
  LoadingThread(const LoadingThread&) = delete;
  LoadingThread& operator=(const LoadingThread&) = delete;

  void load(const Loaded& served, compile::UnusablePlaces unusable, Done done) override;
  void recompile(const Loaded& served, const Loaded& newest, compile::UnusablePlaces unusable, Done done) override;
  void restore(compile::UnusablePlaces unusable, Done done) override;
  void rescue(compile::UnusablePlaces unusable, Done done) override;
  void remember(const Loaded& served) override;
  void keep(const Loaded& served) override;
  void discard(Loaded&& old) override;
  void clearTaint(std::string prefix, std::function<void(bool)> done) override;

  struct Judgement {
    std::string document;                               // verdictDocument()
    std::shared_ptr<const routing::Snapshot> snapshot;  // null if nothing can be read
  };
  /// Predicts the result if a configuration with this text followed `served`, and the `unusable` places had no
  /// listeners; calls `done` on the main thread in a later Turn. It changes nothing. Its revisions have a key of their
  /// own, so that guesses of a Secret cannot be compared with the served one. One at a time.
  void judge(const Loaded& served, const std::string& text, compile::UnusablePlaces unusable,
             std::function<void(Judgement)> done);
  /// Returns the revisions that were served or refused. Any thread.
  std::shared_ptr<const RevisionLedger> ledger() const;

 private:
  /// Memory is returned to the system when the thread has had nothing to do for so long. The next configuration would
  /// have to take it anew.
  static constexpr std::chrono::seconds kTrimAfter{2};
  static constexpr std::size_t kMostTold = 1000;

  /// Hands a job to the thread. An `owed` job is done even if the thread is about to end.
  void post(std::function<void()> job, bool owed = false);
  void run();
  std::function<void()> takeJob();
  /// Hands the loaded configuration to the main thread.
  void hand(Loaded&& loaded, const Done& done);
  void openStore();
  void openState();
  void openStateOf(const base::Settings& settings);
  config::ObjectSet atSource(config::ObjectSet set) const;
  std::shared_ptr<const CompiledConfiguration> compileByItsKey(const std::function<config::ObjectSet()>& read,
                                                               const CompiledConfiguration* before,
                                                               const compile::UnusablePlaces& unusable);
  /// With `reports`, logs problems and conditions. They are not logged again for objects that were reported before.
  Loaded loadNow(const Loaded& served, const std::function<config::ObjectSet()>& readSet,
                 const compile::UnusablePlaces& unusable, bool reports = true);
  Loaded restoreNow(const compile::UnusablePlaces& unusable);
  Loaded rescueNow(const compile::UnusablePlaces& unusable);
  Loaded restore(const StoredConfiguration& stored, const compile::UnusablePlaces& unusable);
  Loaded servable(std::shared_ptr<const CompiledConfiguration> read, const Generation* before);
  Loaded refused(std::shared_ptr<const CompiledConfiguration> read, bool somethingIsServed);
  void keepNow(const CompiledConfiguration& served);
  void rememberNow(const CompiledConfiguration& served);
  void changeLedger(const std::function<void(RevisionLedger&)>& change);
  void taint(const CompiledConfiguration& read, const std::string& reason);
  void keepLedger();
  void report(const config::Problems& problems);
  void report(const CompiledConfiguration& configuration);
  void reportBackends(const CompiledConfiguration& before, const CompiledConfiguration& now);

  // The thread does not own these. Of the main thread's worker, it uses only post().
  Source& source_;
  const processing::BuiltinTypes& processors_;
  observe::Log& log_;
  net::Worker& main_;
  observe::EventRing* const events_;
  const std::optional<compile::AddressPool> pool_;
  const LogPathCheck logPath_;

  // Only the thread uses these once it runs.
  std::string stateFolder_;  // empty until one is named
  std::optional<RevisionStore> store_;
  base::Secret ownKey_;
  base::Secret revisionKey_;  // its own key, or the one that the configuration names
  std::string kept_;          // content() of the stored last good configuration
  std::vector<LedgerRevision> keptLedger_;
  ConfigurationCache cache_;
  GenerationMaker maker_;
  ConditionLog conditionLog_;
  std::set<std::string> toldOfEarlier_;  // why earlier configurations of the source cannot be served
  bool hasFreed_ = false;                // jobs were done since memory was returned to the system

  // Both threads use these, under the mutex.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const RevisionLedger> ledger_ = std::make_shared<const RevisionLedger>();
  struct Job {
    std::function<void()> run;
    bool owed;
  };
  std::deque<Job> jobs_;  // a few of each kind
  bool ending_ = false;
  std::thread thread_;  // declared last, since it uses all of the above
};

}  // namespace sluice::control
