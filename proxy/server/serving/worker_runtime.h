// One worker of the data path: its loop, its resolver, its pools, its exchanges and its clients' connections, beating
// in one order.
//
// Made and destroyed by the main thread; run() is the worker's thread. While it runs, other threads call only
// functions marked "any thread".
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/beat_table.h"
#include "proxy/base/result.h"
#include "proxy/control/report/event_relay.h"
#include "proxy/control/state/generation.h"
#include "proxy/exchange/exchange_list.h"
#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/telemetry/exchange_telemetry.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/observe/access_log.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/connection/downstream_connection.h"
#include "proxy/server/connection/turn_queue.h"
#include "proxy/server/serving/shared_budgets.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::server {

/// The parts that all workers share; all of them outlive the worker.
struct RuntimeParts {
  const base::Clock& clock;
  std::shared_ptr<const control::Generation> generation;
  SharedBudgets& budgets;
  observe::MetricsRegistry& metrics;
  observe::LineFile* accessLog;  // nullptr if it is off
  std::string instance;          // "sluice-1a2b3c4d"
  std::uint64_t randomSeed;
  const observe::Log* log = nullptr;  // nullptr if losses of the access log are not reported
  /// Seals sessions of configurations that name no key. If null, these have no sessions.
  std::shared_ptr<const pki::ValueSealer> sessionSealer = nullptr;
  /// A connection to a Backend has a descriptor below this one (descriptor_shares.h).
  std::size_t descriptors = std::numeric_limits<std::size_t>::max();
  /// The number of names that the worker looks up at a time; at least 1.
  std::size_t lookups = net::ResolverParts{}.maxLookups;
  /// Takes the worker's events; nullptr if they are dropped.
  const control::EventRelay* events = nullptr;
  std::string zone = {};           // of the gateway; empty: unknown
  std::string settingsOwner = {};  // the object with the settings, as events name it
};

class WorkerRuntime final : private net::Beats, private exchange::Downstreams, private ConnectionLists {
 public:
  struct Private {
    explicit Private() = default;
  };
  WorkerRuntime(Private, const RuntimeParts& parts);
  /// Makes a worker. Fails with an error of config's origin if a DNS server is no address.
  static base::Result<std::unique_ptr<WorkerRuntime>> make(const RuntimeParts& parts);
  ~WorkerRuntime() override;

  /// Sets the workers that get the answers of name servers to this one, so that all of them know a name's last good
  /// answer. Call it once, before run(); this worker may be among them.
  void shareAnswers(const std::vector<WorkerRuntime*>& workers);
  /// Serves until stop(), then drops everything at once.
  void run();
  /// Ends run(). Any thread.
  void stop();
  /// Serves another generation from the end of a beat on, then calls `adopted`, on the worker's thread; after stop()
  /// it does neither. A change of the dns settings has no effect. One at a time; any thread.
  void adopt(std::shared_ptr<const control::Generation> generation, std::function<void()> adopted);
  /// Announces the end of each client's connection with its next response, and accepts requests until then. Any thread.
  void announceEnd();
  /// Lets every client finish its requests and leave; new clients may make one request each. Any thread.
  void drain();
  /// Gives the worker a client's connection. Any thread.
  void hand(AcceptedClient client);
  /// Takes a client's connection on the worker's own thread, inside a Turn.
  void take(AcceptedClient client);
  /// Returns the number of client connections, including those on their way by hand(). Any thread.
  std::size_t connections() const { return connectionCount_.load(std::memory_order_relaxed); }
  /// Calls `tell` with the worker's `most` oldest exchanges, under the name of `number`, and its failures: on the
  /// worker's thread, or never if it has stopped. Any thread.
  void listExchanges(std::size_t number, std::size_t most, std::function<void(exchange::ExchangeList)> tell);
  /// Records an event for a connection that was closed because of that limit; on the worker's own thread, inside a
  /// Turn.
  void tellRefusal(control::BindId bind, std::string_view limit);
  void countConnection() { connectionCount_.fetch_add(1, std::memory_order_relaxed); }

  /// Sets a function that is called on the worker's thread when it stops, before its own parts are destroyed: for
  /// other objects on its loop, such as the acceptor.
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

  /// Hands the events over about a second after the first of them.
  class EventTimer final : public net::Timer {
   public:
    explicit EventTimer(WorkerRuntime& owner) : owner_(owner) {}
    void arm();

   private:
    void onTimer() override;
    WorkerRuntime& owner_;
  };

  struct Change {
    std::shared_ptr<const control::Generation> generation;
    std::function<void()> adopted;
  };

  base::Status prepare(const RuntimeParts& parts);
  /// Returns true if nothing is left to drive, flush or reap.
  bool settled() const;
  void change();
  /// Gives the worker a name server's answer to another worker. Any thread.
  void learn(std::shared_ptr<const net::DnsAnswer> answer);
  /// Records an event about lines of the access log that are being lost.
  void tellLogLosses(std::string_view reason);
  /// Ends the metrics of objects that are neither served nor used any more.
  void forgetSeries();
  /// Gives the exchanges the settings that apply besides their rules.
  void applySettings();

  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override { return settled() && !change_; }
  exchange::Downstream* findDownstream(http::Token connection) override;
  void mark(DownstreamConnection& connection) override { connections_.mark(connection); }
  void markLater(DownstreamConnection& connection) override { later_.add(connection); }
  void shutdown();

  const std::shared_ptr<const pki::ValueSealer> sessionSealer_;
  const std::string settingsOwner_;
  std::shared_ptr<const control::Generation> generation_;
  std::optional<Change> change_;              // a requested change
  const routing::ListenerService noService_;  // of connections whose bind is gone
  http::Limits limits_;
  base::TimeoutSettings timeouts_;
  net::Worker worker_;
  http::H2Memory h2Memory_;
  observe::MetricShard metrics_;
  ClientCounters clientCounters_{metrics_};
  base::ClientHalfClose clientHalfClose_ = base::ClientHalfClose::kAbort;
  http::KnownAuthorities authorities_;
  const ConnectionParts connectionParts_{worker_,       limits_,          timeouts_,        &h2Memory_,
                                         &authorities_, &clientCounters_, &clientHalfClose_};
  observe::AccessLog accessLog_;
  observe::EventBatch events_;
  const control::EventRelay* const relay_;
  exchange::ExchangeTelemetry telemetry_;
  observe::BoundedLog debug_;
  exchange::Exchanges exchanges_;
  std::unique_ptr<net::Resolver> resolver_;
  std::vector<WorkerRuntime*> others_;  // get the resolver's answers
  upstream::NetworkDialer dialer_;
  std::unique_ptr<upstream::Upstreams> upstreams_;
  base::BeatTable<DownstreamConnection> connections_;
  TurnQueue<DownstreamConnection> later_{worker_, connections_};
  std::function<void()> leave_;
  bool endAnnounced_ = false;
  bool draining_ = false;
  std::atomic<std::size_t> connectionCount_{0};
  LogTimer logTimer_;
  EventTimer eventTimer_;
};

}  // namespace sluice::server
