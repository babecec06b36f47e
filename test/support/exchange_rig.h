// The data path of one worker in memory: exchanges and upstreams are those of the program, while the test plays clients
// and backends and moves the time. Nothing runs by itself: settle() moves bytes until none can be moved.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/telemetry/exchange_telemetry.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/observe/metrics_reader.h"
#include "proxy/upstream/upstreams.h"
#include "test/support/fake_network.h"
#include "test/support/http_peers.h"
#include "test/support/manual_clock.h"
#include "test/support/rig_connection.h"
#include "test/support/table_entry.h"

namespace sluice::test {

struct RigOptions {
  base::TimeoutSettings timeouts = {};
  http::Limits limits = {};
  base::LimitSettings bounds = {};
  std::size_t pendingBound = 1024;
  std::size_t requestedBound = 1024;
  std::uint64_t maxConnections = 1024;
  std::uint64_t maxRequests = 1024;
  routing::UpstreamProtocol protocol = routing::UpstreamProtocol::kHttp11;
  bool tls = false;
  observe::LineFile* accessLog = nullptr;
  /// Changes the rule, which otherwise only has one weighted backend, the rig's Backend.
  std::function<void(routing::Rule&)> rule = {};
  std::function<void(routing::ServedListener&)> listener = {};
  /// Returns further routes, given the plan of the rig's Backend.
  std::function<std::vector<routing::test::TableEntry>(const std::shared_ptr<routing::BackendPlan>&)> routes = {};
  /// Serves these routes in place of all of the above.
  std::optional<routing::RouteTable> table = {};
};

/// The facts that the observer was given about one finished exchange.
struct FinishedExchange {
  http::Method method;
  std::uint16_t status;
  std::optional<base::Error> error;
  std::uint32_t attempts;
  std::uint64_t requestBytes;
  std::uint64_t responseBytes;
};

/// Observers only read exchanges, but a rig plays those parts of the gateway that identify callers, too.
inline exchange::Transaction& transactionOf(const exchange::Exchange& exchange) {
  return const_cast<exchange::Transaction&>(exchange.transaction());
}

class Rig final : private net::Beats, private exchange::Downstreams, private exchange::ExchangeObserver {
 public:
  exchange::ExchangeObserver& observer() { return *this; }
  static constexpr const char* kHost = "backend.test";
  static constexpr const char* kPseudonym = "sluice-rig";

  explicit Rig(const RigOptions& options = {})
      : options_(options),
        worker(clock),
        shard_(metrics),
        accessLog_(options.accessLog),
        report_(worker, shard_, accessLog_, revision_, events_),
        budgets(options.maxConnections, options.maxRequests),
        buffers(options.bounds.processorBufferTotal),
        clientMemory(options.bounds.connectionMemoryTotal),
        heads(options.bounds.headerMemoryTotal),
        tunnels(options.bounds),
        passwords(options.bounds.passwordChecks),
        resolver(worker),
        dialer(worker),
        exchanges({worker, *this, *this, exchange::GatewayIdentity(kPseudonym), options.timeouts, options.bounds,
                   base::RetryBudgetSettings{}, 1, buffers, clientMemory, heads, tunnels, passwords, shard_}),
        upstreams({worker,
                   resolver,
                   dialer,
                   budgets,
                   failedAddresses,
                   shard_,
                   h2Memory_,
                   {guard, options_.limits, options.timeouts, options.pendingBound, options.requestedBound}}) {
    plan = std::make_shared<routing::BackendPlan>(makePlan(options));
    budget_ = &budgets.join(plan->identity);
    routes_ = makeRoutes();
    exchanges.setUpstreams(upstreams);
    resolver.know(kHost, {"192.0.2.1"});
    worker.setBeats(this);
  }
  ~Rig() override { close(); }

  // --- clients ---

  ClientPeer& connect(http::Version version = http::Version::kHttp11, const http::Limits& itsLimits = {},
                      std::string_view address = "198.51.100.7") {
    auto wire = std::make_shared<Wire>(worker, *net::Address::parse(address, 4000), false);
    wire->shown = shown;
    {
      const net::Worker::Turn turn(worker);
      const RigConnection::RigParts parts{worker, exchanges, routes_, options_.limits, h2Memory_, dirty_};
      connections_.create(parts, wire, version).touch();
    }
    clientWires_.push_back(wire);
    wire->accept();
    clients.push_back(std::make_unique<ClientPeer>(wire, version, clock, itsLimits));
    return *clients.back();
  }

  /// Adopts another configuration, as server::WorkerRuntime does: with its own rules and plan, and a Backend of this
  /// identity with these allowances. The previous configuration is destroyed, except for parts that exchanges still
  /// hold.
  void adopt(const std::string& revision, const std::string& identity = "backend",
             const std::vector<std::string>& allowed = {"192.0.2.0/24", "2001:db8::/32"}) {
    const net::Worker::Turn turn(worker);
    base::Settings settings;
    settings.timeouts = options_.timeouts;
    settings.limits = options_.bounds;
    exchanges.adopt(settings, std::exchange(revision_, revision));
    report_.adopt(revision);
    plan = std::make_shared<routing::BackendPlan>(makePlan(options_));
    plan->identity = identity;
    routes_ = makeRoutes();
    upstreams.adopt({*routing::AddressGuard::make(allowed), options_.limits, options_.timeouts, options_.pendingBound,
                     options_.requestedBound},
                    {plan});
  }

  // --- backends ---

  std::size_t dialled() const { return dialer.wires.size(); }
  Wire& wire(std::size_t index) { return *dialer.wires.at(index); }
  /// Completes the dialled connection, with a backend of this version at its other end.
  BackendPeer& accept(std::size_t index, http::Version version = http::Version::kHttp11,
                      const http::Limits& itsLimits = {}) {
    backends.push_back(std::make_unique<BackendPeer>(dialer.wires.at(index), version, clock, itsLimits));
    dialer.wires.at(index)->accept(version == http::Version::kHttp2 ? "h2" : "http/1.1");
    settle();
    return *backends.back();
  }

  /// Moves bytes until none can be moved. Returns false if that takes too long, because something spins.
  bool settle() {
    for (int round = 0; round < 10000; ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < dialled(); ++i) moved = wire(i).pump() || moved;  // may dial
      for (const auto& each : clientWires_) moved = each->pump() || moved;
      for (const auto& backend : backends) moved = backend->pump() || moved;
      for (const auto& client : clients) moved = client->pump() || moved;
      if (!moved) return true;
    }
    return false;
  }
  /// Moves the time on, and runs the timers that are due.
  void advance(base::Duration by) {
    clock.advance(by);
    { const net::Worker::Turn turn(worker); }
    settle();
  }
  /// Moves the time to just before the deadline; advancePast() moves it beyond, including the delay of the timer wheel.
  void advanceShortOf(base::Duration by) { advance(by - std::chrono::milliseconds(1)); }
  void advancePast() { advance(std::chrono::milliseconds(1) + 2 * net::TimerWheel::kTick); }

  /// Shuts everything down, as at the end of the program.
  void close() {
    if (std::exchange(closed_, true)) return;
    passwords.end();
    const net::Worker::Turn turn(worker);
    exchanges.shutdown();
    connections_.forEach([this](RigConnection& connection) { dead_.push_back(connection.handle()); });
    for (const auto handle : dead_) connections_.destroy(handle);
    dead_.clear();
    dirty_.clear();
    upstreams.shutdown();
  }

  bool quiet() const override { return dirty_.empty() && dead_.empty() && exchanges.quiet() && upstreams.quiet(); }
  /// Returns the Backend's request limits as another worker that serves it sees them.
  upstream::CircuitBreaker& budget() { return *budget_; }
  std::size_t openConnections() const { return connections_.size(); }
  std::string metricsText() const { return observe::exposeMetrics(metrics); }
  void flushLog() { accessLog_.flush(); }
  std::vector<observe::Event> takeEvents() { return events_.take(); }
  exchange::FailureReport failures() const { return report_.failures(); }

 private:
  static routing::BackendPlan makePlan(const RigOptions& options) {
    routing::BackendPlan plan;
    plan.name = "demo/backend";
    plan.identity = "backend";
    plan.hostname = kHost;
    plan.port = 8080;
    plan.authority = "backend.test:8080";
    plan.protocol = options.protocol;
    if (options.tls) {
      plan.tls.emplace();
      plan.tls->serverName = kHost;
      plan.tls->insecureSkipVerify = true;
    }
    return plan;
  }
  /// "/ok" goes to the backend; "/broken" has a fault of its own.
  routing::RouteTable makeRoutes() {
    if (options_.table) return *options_.table;
    const auto make = [this](base::Box<base::Error> failure) {
      auto rule = std::make_shared<routing::Rule>();
      rule->route = "demo/route";
      rule->backends.emplace_back().backend = plan;
      if (options_.rule) options_.rule(*rule);
      for (const routing::WeightedBackend& share : rule->backends) rule->totalWeight += share.weight;
      rule->failure = std::move(failure);
      return rule;
    };
    routing::RouteTableBuilder builder;
    auto listener = std::make_shared<routing::ServedListener>();
    listener->gateway = "demo/egress";
    listener->section = "http";
    if (options_.listener) options_.listener(*listener);
    builder.addListener("", std::move(listener));
    routing::test::TableEntry all;
    all.path = "/ok";
    all.rule = make({});
    routing::test::TableEntry broken;
    broken.path = "/broken";
    broken.rule = make(base::Error::config("the route is broken"));
    if (!routing::test::addTo(builder, std::move(all)).ok() || !routing::test::addTo(builder, std::move(broken)).ok())
      std::abort();
    if (options_.routes) {
      for (routing::test::TableEntry& more : options_.routes(plan)) {
        if (!routing::test::addTo(builder, std::move(more)).ok()) std::abort();
      }
    }
    return builder.build();
  }

  // net::Beats, in the order of server::WorkerRuntime
  void drive() override {
    for (const auto handle : dirty_) {
      if (RigConnection* connection = connections_.find(handle)) connection->resume();
    }
    exchanges.drive();
    upstreams.drive();
  }
  void flush() override {
    upstreams.flush();
    batch_.swap(dirty_);
    for (const auto handle : batch_) {
      RigConnection* connection = connections_.find(handle);
      if (connection == nullptr) continue;
      connection->flush();
      if (connection->dead()) dead_.push_back(handle);
    }
    batch_.clear();
  }
  void reap() override {
    exchanges.reap();
    upstreams.reap();
    for (const auto handle : dead_) {
      if (connections_.find(handle) != nullptr) connections_.destroy(handle);
    }
    dead_.clear();
  }

  exchange::Downstream* findDownstream(http::Token connection) override {
    return connections_.find(base::Handle<RigConnection>::fromToken(connection));
  }

  // exchange::ExchangeObserver
  void onRouted(const exchange::Exchange& exchange) override {
    ++routed;
    auto& known = transactionOf(exchange).caller;
    if (known == nullptr) known = caller;
    report_.onRouted(exchange);
  }
  void onLeftRoute(const exchange::Exchange& exchange) override {
    --routed;
    report_.onLeftRoute(exchange);
  }
  void onRetry(const exchange::Exchange& exchange, const exchange::Attempt& failed, const base::Error* error) override {
    ++retried;
    report_.onRetry(exchange, failed, error);
  }
  void onTunnel(const exchange::Exchange& exchange) override { report_.onTunnel(exchange); }
  void onFinished(const exchange::Exchange& exchange) override {
    toldTwice = toldTwice || !tokens_.insert(exchange.token()).second;
    told.push_back({exchange.transaction().request.head.method, exchange.transaction().status,
                    exchange.transaction().error, exchange.attempt().number, exchange.transaction().requestBytes,
                    exchange.transaction().responseBytes});
    report_.onFinished(exchange);
  }
  void onStep(const exchange::StepReport& report) override {
    steps.push_back(report.step.name);
    report_.onStep(report);
  }
  void onMirrored(const exchange::Mirror& mirror) override {
    ++mirrored;
    report_.onMirrored(mirror);
  }
  void onCallout(const exchange::BackendCallout& callout) override { report_.onCallout(callout); }
  void onEgress(const exchange::DialReport&) override {}
  void onEjection(const exchange::EjectionReport& report) override { report_.onEjection(report); }
  void onIdentity(exchange::IdentitySource source, exchange::IdentityResult result) override {
    identities.push_back(std::string(identitySourceName(source)) + " " + std::string(identityResultName(result)));
    report_.onIdentity(source, result);
  }
  void onRecord(const processing::ProcessorRecord& record) override { report_.onRecord(record); }
  bool onCount(std::string_view type, std::string_view name, std::uint64_t count) override {
    return report_.onCount(type, name, count);
  }
  void onLimit(std::string_view limit) override {
    limits.emplace_back(limit);
    report_.onLimit(limit);
  }

  const RigOptions options_;
  std::vector<base::Handle<RigConnection>> dirty_;
  std::vector<base::Handle<RigConnection>> batch_;
  std::vector<base::Handle<RigConnection>> dead_;
  std::vector<std::shared_ptr<Wire>> clientWires_;
  std::set<http::Token> tokens_;
  bool closed_ = false;
  std::string revision_ = "1";

 public:
  ManualClock clock;
  net::Worker worker;
  observe::MetricsRegistry metrics;
  std::vector<FinishedExchange> told;           // one for each finished exchange
  std::vector<std::string> limits;              // each limit that was hit
  std::vector<std::string> steps;               // name of each step that ran
  std::vector<std::string> identities;          // "certificate identified": each judgement of a source
  std::shared_ptr<const pki::PeerChain> shown;  // the certificates of the clients that connect from now on
  int routed = 0;
  int retried = 0;
  int mirrored = 0;
  bool toldTwice = false;  // an exchange was finished more than once
  /// The caller of requests from now on, as their connection has proven it; null: nobody is known.
  std::shared_ptr<const base::Caller> caller;

 private:
  http::H2Memory h2Memory_;
  observe::MetricShard shard_;
  observe::AccessLog accessLog_;
  observe::EventBatch events_;
  exchange::ExchangeTelemetry report_;
  routing::RouteTable routes_;

 public:
  // The networks for documentation play the outside.
  const routing::AddressGuard guard = *routing::AddressGuard::make({"192.0.2.0/24", "2001:db8::/32"});
  upstream::CircuitBreakers budgets;
  upstream::FailedAddresses failedAddresses;
  processing::BufferBudget buffers;
  exchange::ClientMemoryTotal clientMemory;
  processing::BufferBudget heads;
  exchange::TunnelPlaces tunnels;
  exchange::PasswordChecks passwords;
  upstream::CircuitBreaker* budget_ = nullptr;
  FakeResolver resolver;
  FakeDialer dialer;
  std::shared_ptr<routing::BackendPlan> plan;
  exchange::Exchanges exchanges;
  upstream::Upstreams upstreams;

 private:
  base::Slab<RigConnection> connections_;

 public:
  std::vector<std::unique_ptr<ClientPeer>> clients;
  std::vector<std::unique_ptr<BackendPeer>> backends;
};

/// Makes that the caller of all requests in flight, as authentication does.
inline void identify(Rig& rig, const std::shared_ptr<const base::Caller>& proven) {
  const net::Worker::Turn turn(rig.worker);
  rig.exchanges.forEach([&](const exchange::Exchange& exchange) { transactionOf(exchange).identify(proven); });
}

}  // namespace sluice::test
