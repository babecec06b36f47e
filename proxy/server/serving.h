// What the process serves, and how something else comes to be served: read, compile, open, hand to the workers, accept.
//
// Each step can refuse; until the last one has been taken the old configuration serves on, whole. Lives on the main
// thread, beside the workers that it tells.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proxy/control/configuration.h"
#include "proxy/control/revisions.h"
#include "proxy/net/file_watch.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/acceptor.h"
#include "proxy/server/generation.h"
#include "proxy/server/listen_sockets.h"
#include "proxy/server/worker_runtime.h"

namespace sluice::server {

class Serving final : private net::Timer {
 public:
  /// References outlive it. `paths` are those of --config.
  Serving(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
          net::Worker& main, observe::MetricShard& metrics);
  ~Serving() override;

  /// The first configuration. Errors are config's, and have been logged but for their last line.
  base::Status start();
  /// Once, before the workers run: who is told of other configurations. `workers` and `budgets` outlive the last
  /// reload.
  void attach(std::vector<WorkerRuntime*> workers, Acceptor& acceptor, SharedBudgets& budgets);

  /// Reads the configuration again, and serves it if it is another one and can be served. Comes back at once; what is
  /// asked for meanwhile is done afterwards.
  void reload();
  /// No reload begins any more. One that the workers were told of comes to its end, or its new sockets would take
  /// connections that nobody serves.
  void stop();

  /// Called on the main thread whenever another configuration is served.
  void onServed(std::function<void()> served) { served_ = std::move(served); }

  const control::Configuration& configuration() const { return configuration_; }
  const control::Revisions& revisions() const { return revisions_; }
  const std::shared_ptr<const Generation>& generation() const { return generation_; }
  /// Another one whenever configuration() or revisions() has changed.
  std::string version() const;
  const config::Settings& settings() const { return generation_->snapshot->settings; }
  std::vector<BoundSocket> sockets() const { return sockets_.of(*generation_); }

 private:
  /// A configuration on its way from being read to being served.
  struct Candidate {
    control::Configuration configuration;
    std::shared_ptr<const Generation> generation;
    int failures = 0;         // to open its sockets
    std::size_t waiting = 0;  // workers that have not adopted it yet
  };

  void onTimer() override { open(); }
  void take();
  void open();
  void publish();
  void onAdopted();
  void accept();
  void finish();
  void next();
  void refuse(std::string_view what, std::string_view reason);
  void report(const control::Configuration& configuration);
  void warnOfFixedSettings(const config::Settings& settings);
  void setState(control::ConfigState state);
  void count(std::string_view result, std::uint64_t reloads = 1) {
    metrics_.at<observe::Metric::kConfigReloads>(result).add(reloads);
  }

  const std::vector<std::string> paths_;
  const processing::BuiltinTypes& processors_;
  const base::Secret revisionKey_;
  control::Memo memo_;
  observe::Log& log_;
  net::Worker& main_;
  observe::MetricShard& metrics_;
  GenerationMaker maker_;
  ListenSockets sockets_;
  control::Configuration configuration_;  // what is served
  std::shared_ptr<const Generation> generation_;
  config::Settings settingsAtStart_;
  control::Revisions revisions_;
  std::optional<Candidate> candidate_;
  net::FileWatch watch_;
  bool again_ = false;
  bool stopped_ = false;
  std::set<std::string> reported_;  // statuses that the log has said
  std::uint64_t adoptions_ = 0;
  std::function<void()> served_ = [] {};
  std::vector<WorkerRuntime*> workers_;
  Acceptor* acceptor_ = nullptr;
  SharedBudgets* budgets_ = nullptr;
};

}  // namespace sluice::server
