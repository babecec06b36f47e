// One worker of the data path: its loop, its resolver, its pools, its exchanges and its clients' connections, beating in one order.
//
// Made and destroyed by the main thread; run() is the worker's thread. From outside only hand(), stop() and connections() may be called
// while it runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/exchange/exchange_list.h"
#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/report.h"
#include "proxy/http/h2_memory.h"
#include "proxy/net/resolver.h"
#include "proxy/observe/access_log.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/snapshot.h"
#include "proxy/server/downstream_connection.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::server {

/// What all workers share; all of it outlives them.
struct RuntimeParts {
  const base::Clock& clock;
  std::shared_ptr<const routing::Snapshot> snapshot;
  /// One per bind, null for plaintext: shared, so that a session's ticket is worth something on every worker.
  const std::vector<std::unique_ptr<net::TlsServerContext>>& tls;
  upstream::Budgets& budgets;
  observe::MetricsRegistry& metrics;
  observe::LineFile* accessLog;  // nullptr: off
  std::string instance;          // "sluice-1a2b3c4d"
  std::string revision;          // of the snapshot
  std::uint64_t randomSeed;
};

class WorkerRuntime final : private net::Beats, private exchange::Downstreams, private DirtyList {
 public:
  struct Private {
    explicit Private() = default;
  };
  WorkerRuntime(Private, const RuntimeParts& parts);
  /// The way to make one. Errors are config's: a DNS server that is none.
  static base::Result<std::unique_ptr<WorkerRuntime>> make(const RuntimeParts& parts);
  ~WorkerRuntime() override;

  /// Serves until stop(), then drops everything at once.
  void run();
  void stop();
  /// Lets every client finish what it began and go; those that still come may make one request each. Any thread.
  void drain();
  /// Gives the worker a client's connection that was accepted on binds[bind]. Any thread.
  void hand(int fd, const net::Address& peer, std::size_t bind);
  /// The same on the worker's own thread, inside a Turn.
  void adopt(int fd, const net::Address& peer, std::size_t bind);
  /// Client connections, those on their way by hand() included. Any thread.
  std::size_t connections() const { return connectionCount_.load(std::memory_order_relaxed); }
  /// Has the worker, by the name of `number`, tell its `most` oldest exchanges: on its own thread, or never if it has
  /// stopped. Any thread.
  void listExchanges(std::size_t number, std::size_t most, std::function<void(exchange::ExchangeList)> tell);
  void countConnection() { connectionCount_.fetch_add(1, std::memory_order_relaxed); }

  /// Called on the worker's thread when it stops, before its own parts go: for what else lives on its loop, such as the acceptor.
  void onShutdown(std::function<void()> leave) { leave_ = std::move(leave); }
  net::Worker& worker() { return worker_; }
  observe::MetricShard& metrics() { return metrics_; }

 private:
  /// Writes the access log about once a second.
  class LogTimer final : public net::Timer {
   public:
    explicit LogTimer(WorkerRuntime& owner) : owner_(owner) {}
    void arm();

   private:
    void onTimer() override;
    WorkerRuntime& owner_;
  };

  base::Status prepare(const RuntimeParts& parts);

  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override;
  exchange::Downstream* findDownstream(http::Token connection) override;
  void add(base::Handle<DownstreamConnection> connection) override { dirty_.push_back(connection); }
  void shutdown();

  const std::shared_ptr<const routing::Snapshot> snapshot_;
  const http::Limits limits_;
  net::Worker worker_;
  http::H2Memory h2Memory_;
  observe::MetricShard metrics_;
  observe::AccessLog accessLog_;
  exchange::Report report_;
  exchange::Exchanges exchanges_;
  std::unique_ptr<net::Resolver> resolver_;
  upstream::NetworkDialer dialer_;
  std::unique_ptr<upstream::Upstreams> upstreams_;
  const std::vector<std::unique_ptr<net::TlsServerContext>>& tls_;
  base::Slab<DownstreamConnection> connections_;
  std::vector<base::Handle<DownstreamConnection>> dirty_;
  std::vector<base::Handle<DownstreamConnection>> batch_;
  std::vector<base::Handle<DownstreamConnection>> dead_;
  std::function<void()> leave_;
  bool draining_ = false;
  std::atomic<std::size_t> connectionCount_{0};
  LogTimer logTimer_;
};

}  // namespace sluice::server
