// What the process serves, and how something else comes to be served: read, compile, open, hand to the workers, accept.
//
// Each step can refuse; until the last one has been taken the old configuration serves on, whole. Lives on the main
// thread, beside the workers that it tells; what takes long is the loader's, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/control/configuration.h"
#include "proxy/control/revisions.h"
#include "proxy/net/files/file_watch.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/acceptor.h"
#include "proxy/server/generation.h"
#include "proxy/server/listen_sockets.h"
#include "proxy/server/loader.h"
#include "proxy/server/worker_runtime.h"

namespace sluice::server {

class Serving final : private net::Timer {
 public:
  /// References outlive it. `paths` are those of --config.
  Serving(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
          net::Worker& main, observe::MetricShard& metrics);
  ~Serving() override;

  /// Loads the first configuration and opens its sockets, then calls `started` on the main thread. Errors are config's,
  /// and have been logged but for their last line. Once.
  void start(std::function<void(const base::Status&)> started);
  /// Once, when started(), before the workers run: who is told of other configurations. `workers` and `budgets` outlive
  /// the last reload.
  void attach(std::vector<WorkerRuntime*> workers, Acceptor& acceptor, SharedBudgets& budgets);

  /// Reads the configuration again, and serves it if it is another one and can be served. Comes back at once; what is
  /// asked for meanwhile, or before there are workers, is done afterwards, once.
  void reload();
  /// No reload begins any more, and what is being loaded is forgotten. One that the workers were told of comes to its
  /// end, or its new sockets would take connections that nobody serves.
  void stop();

  /// Called on the main thread whenever another configuration is served.
  void onServed(std::function<void()> served) { served_ = std::move(served); }

  /// A configuration is on its way, or was when stop() came and has not reached the workers yet.
  bool reloading() const { return candidate_.has_value(); }

  const control::Configuration& configuration() const { return configuration_; }
  const control::Revisions& revisions() const { return revisions_; }
  const std::shared_ptr<const Generation>& generation() const { return generation_; }
  /// Another one whenever configuration() or revisions() has changed.
  std::string version() const;
  /// The defaults until started().
  const base::Settings& settings() const {
    return generation_ != nullptr ? generation_->snapshot->settings : settingsAtStart_;
  }
  std::vector<BoundSocket> sockets() const { return sockets_.of(*generation_); }

 private:
  /// A configuration on its way from being read to being served.
  struct Candidate {
    control::Configuration configuration;          // once it is loaded
    std::shared_ptr<const Generation> generation;  // if it can be served
    int failures = 0;                              // to open its sockets
    std::size_t waiting = 0;                       // workers that have not adopted it yet
  };

  void onTimer() override { open(); }
  base::Status adoptFirst(Loaded&& loaded);
  void take(Loaded&& loaded);
  void open();
  void publish();
  void onAdopted();
  void accept();
  void finish();
  void next();
  void refuse(std::string_view what, std::string_view reason);
  void warnOfFixedSettings(const base::Settings& settings);
  void setState(control::ConfigState state);
  void count(std::string_view result, std::uint64_t reloads = 1) {
    metrics_.at<observe::Metric::kConfigReloads>(result).add(reloads);
  }

  observe::Log& log_;
  net::Worker& main_;
  observe::MetricShard& metrics_;
  ListenSockets sockets_;
  control::Configuration configuration_;  // what is served
  std::shared_ptr<const Generation> generation_;
  base::Settings settingsAtStart_;
  control::Revisions revisions_;
  std::optional<Candidate> candidate_;
  net::FileWatch watch_;
  bool again_ = false;
  bool stopped_ = false;
  std::uint64_t adoptions_ = 0;
  std::function<void()> served_ = [] {};
  std::vector<WorkerRuntime*> workers_;
  Acceptor* acceptor_ = nullptr;
  SharedBudgets* budgets_ = nullptr;
  Loader loader_;  // declared last, since it reads what is served
};

}  // namespace sluice::server
