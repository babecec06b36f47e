// The thread that reads, compiles and destroys configurations. Each of these may take seconds, during which the main
// thread must answer probes and signals.
//
// The main thread creates and uses it. The results that it hands over are complete and never change.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "proxy/base/secret.h"
#include "proxy/control/compiled_configuration.h"
#include "proxy/control/generation.h"
#include "proxy/control/loader.h"
#include "proxy/control/source.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"

namespace sluice::control {

class LoadingThread final : public Loader {
 public:
  /// References outlive it.
  LoadingThread(Source& source, const processing::BuiltinTypes& processors, observe::Log& log, net::Worker& main);
  /// Waits for the end of the current job, whose result is dropped.
  ~LoadingThread() override;
  LoadingThread(const LoadingThread&) = delete;
  LoadingThread& operator=(const LoadingThread&) = delete;

  void load(const Loaded& served, UnusablePlaces unusable, Done done) override;
  void discard(Loaded&& old) override;

 private:
  void post(std::function<void()> job);
  void run();
  Loaded loadNow(const Loaded& served, const UnusablePlaces& unusable);
  void report(const CompiledConfiguration& configuration);

  // These belong to others. The thread uses them, but only post() of the main thread's worker.
  Source& source_;
  const processing::BuiltinTypes& processors_;
  observe::Log& log_;
  net::Worker& main_;

  // Only the thread uses these once it runs.
  const base::Secret revisionKey_;
  ConfigurationCache cache_;
  GenerationMaker maker_;
  std::set<std::string> reported_;  // statuses already logged

  // Both threads use these, under the mutex.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // at most one load and the destruction of its predecessor
  bool ending_ = false;
  std::thread thread_;  // declared last, since it uses all of the above
};

}  // namespace sluice::control
