// Serving puts configurations into service: it has the sockets that the process listens on, hands a new configuration
// to the workers and their shared parts, and reports the outcome of reloads in log and metrics. The control::Reloader
// decides which configuration is served, and when. Serving lives on the main thread, beside the workers that it
// notifies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/settings.h"
#include "proxy/control/publisher.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/state/generation.h"
#include "proxy/net/worker.h"
#include "proxy/observe/events.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/serving/acceptor.h"
#include "proxy/server/serving/listen_sockets.h"
#include "proxy/server/serving/worker_runtime.h"

namespace sluice::server {

class Serving final : public control::Publisher, public control::ReloadObserver {
 public:
  /// All references outlive the object.
  Serving(observe::Log& log, net::Worker& main, observe::MetricShard& metrics, observe::EventRing& events)
      : log_(log), main_(main), metrics_(metrics), events_(events) {}

  /// Sets the receivers of new configurations, in the place of earlier ones. Call it before the workers run.
  /// `workers` and `budgets` outlive the last reload; `atStart` are the settings that the workers were made with.
  void attach(std::vector<WorkerRuntime*> workers, Acceptor& acceptor, SharedBudgets& budgets,
              const base::Settings& atStart);

  /// Returns the open sockets of a generation that was opened here.
  std::vector<BoundSocket> sockets(const control::Generation& generation) const { return sockets_.of(generation); }

  /// Returns the places of a snapshot where the process could not listen now.
  compile::UnusablePlaces unusable(const routing::Snapshot& snapshot) const { return sockets_.unusable(snapshot); }

  compile::UnusablePlaces open(const control::Generation& next) override;
  bool openAny(const compile::UnusablePlaces& places) override;
  Handover publish(const std::shared_ptr<const control::Generation>& next, std::function<void()> adopted) override;
  Handover accept(const control::Generation& next, std::function<void()> accepted) override;
  void closeOthers(const control::Generation& served) override;

  void onCompiled(const control::CompiledConfiguration& compiled) override;
  void onUnchanged(const control::Revisions& revisions) override;
  void onRefused(const control::Revisions& revisions) override;
  void onHeld(const control::Revisions& revisions) override;
  void onServed(const control::Revisions& revisions, const control::Generation& now, std::string_view before) override;

 private:
  void warnOfFixedSettings(const base::Settings& settings);
  void setState(control::ConfigState state);
  void note(observe::EventType type, std::string_view reason, std::string message);
  void count(std::string_view result, std::uint64_t reloads = 1) {
    metrics_.at<observe::Metric::kConfigReloads>(result).add(reloads);
  }

  observe::Log& log_;
  net::Worker& main_;
  observe::MetricShard& metrics_;
  observe::EventRing& events_;
  ListenSockets sockets_;
  base::Settings settingsAtStart_;
  std::string withoutTheirSettings_;  // the Gateways in the last warning
  std::vector<WorkerRuntime*> workers_;
  std::size_t adopting_ = 0;  // workers that have not adopted the published one yet
  Acceptor* acceptor_ = nullptr;
  SharedBudgets* budgets_ = nullptr;
};

}  // namespace sluice::server
