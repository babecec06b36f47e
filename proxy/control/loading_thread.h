// The thread that reads and compiles configurations, and takes apart those that are served no more: each may take
// seconds, for which the main thread has probes and signals waiting.
//
// Made and used by the main thread. What it hands over is complete and changed by nobody any more.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "proxy/base/secret.h"
#include "proxy/control/configuration.h"
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
  /// Waits for the end of what the thread is at; nobody is told of it.
  ~LoadingThread() override;
  LoadingThread(const LoadingThread&) = delete;
  LoadingThread& operator=(const LoadingThread&) = delete;

  void load(const Loaded& served, Done done) override;
  void discard(Loaded&& old) override;

 private:
  void post(std::function<void()> job);
  void run();
  Loaded loadNow(const Loaded& served);
  void report(const Configuration& configuration);

  // These belong to others. They are used from the thread, and of the main thread's worker that is post() alone.
  Source& source_;
  const processing::BuiltinTypes& processors_;
  observe::Log& log_;
  net::Worker& main_;

  // Nobody but the thread uses these once it runs.
  const base::Secret revisionKey_;
  ConfigurationMemo memo_;
  GenerationMaker maker_;
  std::set<std::string> reported_;  // statuses that the log has said

  // Both threads use these, under the mutex.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // at most a load and what the one before made superfluous
  bool ending_ = false;
  std::thread thread_;  // declared last, since it uses all of the above
};

}  // namespace sluice::control
