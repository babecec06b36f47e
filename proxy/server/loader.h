// The thread that reads and compiles configurations, and takes apart those that are served no more: each may take
// seconds, for which the main thread has probes and signals waiting.
//
// Made and used by the main thread. What it hands over is complete and changed by nobody else any more; what it is
// given to read stays as it is until it has handed over.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "proxy/control/configuration.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/server/generation.h"

namespace sluice::server {

/// A configuration, and as much of it as the workers need.
struct Loaded {
  control::Configuration configuration;
  /// There is nothing in it that is not served already: then it has no generation.
  bool unchanged = false;
  std::shared_ptr<const Generation> generation;  // nullptr: it cannot be served
  std::string refusal;                           // why not
};

class Loader {
 public:
  /// References outlive it. `paths` are those of --config.
  Loader(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
         net::Worker& main);
  /// Waits for the end of what the thread is at; nobody is told of it.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  using Done = std::function<void(Loaded&& loaded)>;
  /// Reads the configuration anew and calls `done` on the main thread, unless its loop has ended. `served` is what the
  /// new one follows, without a generation at first; neither changes before `done`.
  void load(const control::Configuration& served, std::shared_ptr<const Generation> generation, Done done);
  /// Destroys these on its thread, which no main thread should wait for.
  void discard(control::Configuration&& configuration, std::shared_ptr<const Generation>&& generation);

 private:
  void post(std::function<void()> job);
  void run();
  Loaded loadNow(const control::Configuration& served, const Generation* generation);
  void report(const control::Configuration& configuration);

  const std::vector<std::string> paths_;
  const processing::BuiltinTypes& processors_;
  observe::Log& log_;
  net::Worker& main_;
  // These are the thread's own.
  const base::Secret revisionKey_;
  control::ConfigurationMemo memo_;
  GenerationMaker maker_;
  std::set<std::string> reported_;  // statuses that the log has said

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // at most a load and what the one before made superfluous
  bool ending_ = false;
  std::thread thread_;  // declared last, since it uses all of the above
};

}  // namespace sluice::server
