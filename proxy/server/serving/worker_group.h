// The workers of the process with the parts that are made for them: their threads, the acceptor, and the budgets that
// they share.
//
// They are made from a configuration, whose settings for workers apply until new workers are made. Lives on the main
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/control/report/event_relay.h"
#include "proxy/control/state/generation.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/admin/exchanges_page.h"
#include "proxy/server/serving/acceptor.h"
#include "proxy/server/serving/access_log_file.h"
#include "proxy/server/serving/descriptor_shares.h"
#include "proxy/server/serving/serving.h"
#include "proxy/server/serving/shared_budgets.h"
#include "proxy/server/serving/shutdown.h"
#include "proxy/server/serving/worker_runtime.h"

namespace sluice::server {

/// All of them outlive the workers.
struct WorkerGroupParts {
  const base::Clock& clock;
  observe::Log& log;
  observe::MetricsRegistry& metrics;
  Serving& serving;
  ExchangesPage& exchangesPage;
  const DescriptorShares& descriptors;
  std::optional<std::uint32_t> workers;  // takes precedence over settings.yaml
  const control::EventRelay& events;
  std::string zone;  // of the gateway; empty: unknown
  AccessLogFile& accessLog;
};

class WorkerGroup final : public DrainedClients {
 public:
  explicit WorkerGroup(const WorkerGroupParts& parts) : parts_(parts) {}
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;
  ~WorkerGroup() override { end(); }

  /// Ends the present workers, and starts workers that serve the generation on its open sockets. Errors name the
  /// resource that the environment refuses; then there are no workers. `settingsOwner` is the object with the settings,
  /// as events name it.
  base::Status start(const std::shared_ptr<const control::Generation>& generation, const std::string& settingsOwner);
  void announceEnd() override;
  void drain() override;
  std::size_t clients() const override;
  /// Returns true once drain() was called.
  bool draining() const { return draining_; }
  /// Ends the workers and their connections at once.
  void end();

  std::size_t size() const { return runtimes_.size(); }
  /// Returns the limits that they share; null if there are no workers.
  SharedBudgets* budgets() { return budgets_ ? &*budgets_ : nullptr; }

 private:
  base::Status make(const std::shared_ptr<const control::Generation>& generation, const std::string& settingsOwner);
  std::uint32_t countFor(const base::Settings& settings) const;

  const WorkerGroupParts parts_;
  std::optional<SharedBudgets> budgets_;
  std::vector<std::unique_ptr<WorkerRuntime>> runtimes_;
  std::unique_ptr<Acceptor> acceptor_;  // lives on the first worker's loop
  std::vector<std::thread> threads_;
  bool draining_ = false;
};

}  // namespace sluice::server
