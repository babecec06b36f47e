// The pools of one worker in memory: requests that a test lets wait, begin and end, and the backends that they reach.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/http/h2/h2_memory.h"
#include "proxy/observe/metrics_reader.h"
#include "proxy/upstream/upstreams.h"
#include "test/support/fake_network.h"
#include "test/support/http_peers.h"
#include "test/support/manual_clock.h"

namespace sluice::upstream {

using http::Version;

struct PoolOptions {
  base::TimeoutSettings timeouts = {};
  std::size_t pendingBound = 1024;
  std::size_t requestedBound = 1024;
  std::uint64_t maxConnections = 1024;
  routing::UpstreamProtocol protocol = routing::UpstreamProtocol::kHttp11;
  bool tls = false;
  /// IP literals in order, which make the Backend a Service.
  std::optional<std::vector<std::string>> endpoints = std::nullopt;
  std::uint64_t randomSeed = 1;
  observe::BoundedLog* debugLog = nullptr;
  routing::ConnectionSettings connection = {};
  std::vector<base::EndpointZones> zones = {};  // of the endpoints
  std::string zone = {};                        // of the gateway
};

/// Begins a request as soon as the pool lets it.
class PoolRig final : private net::Beats, private WaiterSink {
 public:
  static constexpr const char* kHost = "backend.test";

  explicit PoolRig(const PoolOptions& options = {})
      : worker(clock),
        shard_(metrics),
        budgets(options.maxConnections, 1024),
        resolver(worker),
        dialer(worker),
        sink(worker.chunks()),
        upstreams(std::make_unique<Upstreams>(UpstreamParts{worker, resolver, dialer, budgets, failedAddresses, shard_,
                                                            h2Memory_, policyOf(options), options.randomSeed,
                                                            options.debugLog, options.zone})) {
    plan = planOf("backend", options);
    resolver.know(kHost, {"192.0.2.1"});
    upstreams->sinks().serve(User::kExchange, sink, *this);
    worker.setBeats(this);
  }
  ~PoolRig() override {
    const net::Worker::Turn turn(worker);
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].seat.leave(i + 1);
    upstreams.reset();
  }

  Cluster& cluster() { return upstreams->cluster(plan); }
  /// The circuit breaker, as another worker that serves the Backend sees it.
  CircuitBreaker& budget() { return budget_; }

  /// Gives the worker other plans. A test that goes on with another plan assigns the member `plan` too.
  void adopt(const UpstreamPolicy& policy, const Upstreams::Plans& plans) {
    const net::Worker::Turn turn(worker);
    upstreams->adopt(policy, plans);
  }

  /// Adds a request that wants a connection now, to the endpoint at `preferred` if possible, and not to the one at
  /// `avoided`. Returns its number, which the functions below take.
  std::size_t want(const std::optional<net::Address>& preferred = std::nullopt,
                   const std::optional<net::Address>& avoided = std::nullopt) {
    const net::Worker::Turn turn(worker);
    add();
    requests_.back().preferred = preferred;
    acquire(requests_.size(), avoided ? &*avoided : nullptr);
    return requests_.size() - 1;
  }
  /// Adds a request that wants a connection to one of those addresses alone.
  std::size_t wantOf(const std::vector<std::string>& ips, const std::optional<net::Address>& preferred = std::nullopt) {
    const net::Worker::Turn turn(worker);
    add();
    requests_.back().preferred = preferred;
    requests_.back().allowed.emplace();
    for (const std::string& ip : ips) requests_.back().allowed->push_back(*net::Address::parse(ip, 8080));
    acquire(requests_.size());
    return requests_.size() - 1;
  }
  /// Adds a request that wants a connection to an address that policies permit. `dial` outlives it.
  std::size_t wantJudged(routing::EgressDial& dial) {
    const net::Worker::Turn turn(worker);
    add();
    requests_.back().dial = &dial;
    acquire(requests_.size());
    return requests_.size() - 1;
  }
  /// Adds a request that wants addresses and no connection.
  std::size_t ask() {
    const net::Worker::Turn turn(worker);
    add();
    requests_.back().asks = true;
    resolve(requests_.back(), requests_.size());
    return requests_.size() - 1;
  }
  /// Returns the addresses that it got, joined; "" if none yet.
  std::string told(std::size_t index) const {
    std::string text;
    for (const net::Address& address : requests_[index].resolved)
      text += (text.empty() ? "" : " ") + address.toString();
    return text;
  }
  /// Ends a request, which leaves its cluster.
  void done(std::size_t index) {
    const net::Worker::Turn turn(worker);
    requests_[index].seat.leave(index + 1);
    requests_[index].cluster->leave(index + 1, Place::kHeld);
  }
  /// Lets a waiting request give up.
  void leave(std::size_t index) {
    const net::Worker::Turn turn(worker);
    requests_[index].cluster->abandon(index + 1);
    requests_[index].seat.leave(index + 1);
    requests_[index].gone = true;
  }
  /// Cuts a request that was begun.
  void cancel(std::size_t index) {
    const net::Worker::Turn turn(worker);
    Connection* connection = upstreams->find(requests_[index].connection);
    connection->codec()->reset(requests_[index].stream, http::ResetReason::kCancelled);
    connection->touch();
  }
  /// Cuts a request that has got no response.
  void expire(std::size_t index) {
    const net::Worker::Turn turn(worker);
    Connection* connection = upstreams->find(requests_[index].connection);
    connection->codec()->reset(requests_[index].stream, http::ResetReason::kCancelled);
    connection->suspect();
    connection->touch();
  }
  /// Returns the place of a request at its endpoint.
  EndpointSeat& seat(std::size_t index) { return requests_[index].seat; }
  /// Returns true if it was ended because another client wanted its place there.
  bool gaveWay(std::size_t index) const { return requests_[index].gaveWay; }
  bool begun(std::size_t index) const { return requests_[index].stream != 0; }
  bool failed(std::size_t index) const { return requests_[index].error.has_value(); }
  const base::Error& error(std::size_t index) const { return *requests_[index].error; }
  base::Handle<Connection> connectionOf(std::size_t index) const { return requests_[index].connection; }
  test::RecordingClientSink::RecordedResponse& answer(std::size_t index) { return sink.stream(index); }

  std::size_t dialled() const { return dialer.wires.size(); }
  test::Wire& wire(std::size_t index) { return *dialer.wires.at(index); }
  test::BackendPeer& accept(std::size_t index, Version version = Version::kHttp11, const http::Limits& limits = {}) {
    backends.push_back(std::make_unique<test::BackendPeer>(dialer.wires.at(index), version, clock, limits));
    dialer.wires.at(index)->accept(version == Version::kHttp2 ? "h2" : "http/1.1");
    settle();
    return *backends.back();
  }
  bool settle() {
    for (int round = 0; round < 1000; ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < dialled(); ++i) moved = wire(i).pump() || moved;  // pump() may make the pool dial
      for (const auto& backend : backends) moved = backend->pump() || moved;
      if (!moved) return true;
    }
    return false;
  }
  void advance(base::Duration by) {
    clock.advance(by);
    { const net::Worker::Turn turn(worker); }
    settle();
  }
  bool counted(const std::string& line) const {
    return observe::exposeMetrics(metrics).find(line + "\n") != std::string::npos;
  }

  static std::shared_ptr<const routing::BackendPlan> planOf(const std::string& identity, const PoolOptions& options) {
    auto made = std::make_shared<routing::BackendPlan>();
    made->name = "demo/backend";
    made->identity = identity;
    made->hostname = kHost;
    made->port = 8080;
    made->authority = "backend.test:8080";
    made->protocol = options.protocol;
    made->connection = options.connection;
    if (options.endpoints) {
      made->endpoints.emplace();
      for (const std::string& ip : *options.endpoints) made->endpoints->push_back({ip, 8080});
    }
    made->zones = options.zones;
    if (options.tls) {
      made->tls.emplace();
      made->tls->serverName = kHost;
      made->tls->insecureSkipVerify = true;
    }
    return made;
  }
  static UpstreamPolicy policyOf(const PoolOptions& options) {
    return {*routing::AddressGuard::make({"192.0.2.0/24", "2001:db8::/32"}),
            {},
            options.timeouts,
            options.pendingBound,
            options.requestedBound};
  }

 private:
  struct RigRequest {
    Cluster* cluster = nullptr;
    std::optional<net::Address> preferred;
    std::optional<net::Addresses> allowed;
    routing::EgressDial* dial = nullptr;
    net::Addresses resolved;
    bool asks = false;
    EndpointSeat seat;
    PlaceClaim claim;
    bool gaveWay = false;
    base::Handle<Connection> connection;
    http::StreamId stream = 0;
    std::optional<base::Error> error;
    bool woken = false;
    bool gone = false;
  };

  void add() {
    sink.open().request.finish();
    RigRequest& request = requests_.emplace_back();
    request.cluster = &cluster();
    request.claim = claim;
    request.seat.open(claim.client, true);
    EXPECT_EQ(cluster().enter(requests_.size(), net::kOwnNetwork, true), Place::kHeld);
  }

  void resolve(RigRequest& request, http::Token token) {
    auto resolved = request.cluster->resolve(token);
    if (resolved.ok()) {
      request.resolved = *resolved;
    } else {
      request.error = resolved.error();
    }
  }

  void acquire(http::Token token, const net::Address* avoided = nullptr) {
    RigRequest& request = requests_[static_cast<std::size_t>(token - 1)];
    const Wishes wishes = {.preferred = request.preferred ? &*request.preferred : nullptr,
                           .avoided = avoided,
                           .allowed = request.allowed ? &*request.allowed : nullptr,
                           .dial = request.dial,
                           .failing = failing,
                           .hash = hash ? &*hash : nullptr};
    auto lease = request.cluster->acquire(token, wishes, &request.seat);
    if (!lease.ok()) {
      request.error = lease.error();
      return;
    }
    if (lease->empty()) return;
    request.connection = *lease;
    http::RequestHead head;
    head.authority = "backend.test:8080";
    head.target = "/";
    request.stream = upstreams->find(*lease)->begin(token, head);
  }

  // WaiterSink: these only record; the rest is done in the drive beat.
  bool onPoolReady(http::Token waiter) override {
    RigRequest& request = requests_[static_cast<std::size_t>(waiter - 1)];
    if (request.gone) return false;
    if (!std::exchange(request.woken, true)) woken_.push_back(waiter);
    return true;
  }
  bool onPoolFailed(http::Token waiter, const base::Error& error) override {
    RigRequest& request = requests_[static_cast<std::size_t>(waiter - 1)];
    if (request.gone) return false;
    request.error = error;
    return true;
  }

  /// Only places at endpoints are surveyed.
  void surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) override {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].seat.isOf(breaker)) survey.add(i + 1, requests_[i].claim);
    }
  }
  bool giveWay(const StalledRequest& stalled, const PlaceDemand& demand) override {
    RigRequest& request = requests_[static_cast<std::size_t>(stalled.holder - 1)];
    if (!request.seat.isOf(demand.breaker)) return false;
    request.gaveWay = true;
    return true;
  }

  void drive() override {
    for (const http::Token token : std::exchange(woken_, {})) {
      RigRequest& request = requests_[static_cast<std::size_t>(token - 1)];
      request.woken = false;
      if (request.gone) continue;
      if (request.asks) {
        resolve(request, token);
      } else {
        acquire(token);
      }
    }
    upstreams->drive();
  }
  void flush() override { upstreams->flush(); }
  void reap() override { upstreams->reap(); }
  bool quiet() const override { return woken_.empty() && (upstreams == nullptr || upstreams->quiet()); }

  std::vector<RigRequest> requests_;
  std::vector<http::Token> woken_;

 public:
  test::ManualClock clock;
  net::Worker worker;
  observe::MetricsRegistry metrics;

 private:
  http::H2Memory h2Memory_;
  observe::MetricShard shard_;

 public:
  CircuitBreakers budgets;
  CircuitBreaker& budget_ = budgets.join("backend");
  FailedAddresses failedAddresses;
  test::FakeResolver resolver;
  test::FakeDialer dialer;
  test::RecordingClientSink sink;
  std::shared_ptr<const routing::BackendPlan> plan;
  std::shared_ptr<const routing::Endpoints> failing;  // Wishes::failing of the next requests
  std::optional<std::uint64_t> hash;                  // of further requests
  PlaceClaim claim = {};                              // of further requests
  std::unique_ptr<Upstreams> upstreams;
  std::vector<std::unique_ptr<test::BackendPeer>> backends;
};

}  // namespace sluice::upstream
