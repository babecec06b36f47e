#include "proxy/server/worker_runtime.h"

#include <utility>

#include "proxy/server/settings_view.h"

namespace sluice::server {
namespace {

constexpr base::Duration kLogInterval = std::chrono::seconds(1);

exchange::ExchangeParts exchangeParts(const RuntimeParts& parts, net::Worker& worker, exchange::Downstreams& downstreams,
                                      exchange::ExchangeObserver& observer) {
  const config::Settings& settings = parts.snapshot->settings;
  return {worker,
          downstreams,
          observer,
          {"1.1 " + parts.instance, settings.forwardedHeaders == config::ForwardedHeaders::kAppend},
          settings.timeouts,
          parts.randomSeed};
}

}  // namespace

WorkerRuntime::WorkerRuntime(Private, const RuntimeParts& parts)
    : snapshot_(parts.snapshot),
      limits_(httpLimits(parts.snapshot->settings.limits)),
      worker_(parts.clock),
      metrics_(parts.metrics),
      accessLog_(parts.accessLog),
      report_(worker_, *this, metrics_, accessLog_, parts.revision),
      exchanges_(exchangeParts(parts, worker_, *this, report_)),
      dialer_(worker_),
      tls_(parts.tls),
      logTimer_(*this) {}

WorkerRuntime::~WorkerRuntime() = default;

base::Result<std::unique_ptr<WorkerRuntime>> WorkerRuntime::make(const RuntimeParts& parts) {
  auto runtime = std::make_unique<WorkerRuntime>(Private{}, parts);
  base::Status prepared = runtime->prepare(parts);
  if (!prepared.ok()) return prepared.error();
  return runtime;
}

base::Status WorkerRuntime::prepare(const RuntimeParts& parts) {
  const config::Settings& settings = snapshot_->settings;
  auto resolver = net::makeResolver(worker_, dnsSettings(settings.dns), &metrics_);
  if (!resolver.ok()) return resolver.error();
  resolver_ = std::move(*resolver);
  upstreams_ = std::make_unique<upstream::Upstreams>(upstream::UpstreamParts{worker_, *resolver_, dialer_, snapshot_->addressGuard, parts.budgets, exchanges_, exchanges_,
                                                                             metrics_, h2Memory_, limits_, settings.timeouts,
                                                                             settings.limits.backendPending});
  exchanges_.setUpstreams(*upstreams_);
  worker_.setBeats(this);
  return base::Done{};
}

void WorkerRuntime::run() {
  if (accessLog_.enabled()) logTimer_.arm();
  worker_.run();
}

void WorkerRuntime::stop() {
  worker_.post([this] {
    shutdown();
    worker_.stop();
  });
}

void WorkerRuntime::drain() {
  worker_.post([this] {
    draining_ = true;
    connections_.forEach([](DownstreamConnection& connection) { connection.drain(); });
  });
}

void WorkerRuntime::listExchanges(std::size_t number, std::size_t most,
                                  std::function<void(exchange::ExchangeList)> tell) {
  worker_.post([this, number, most, tell = std::move(tell)] {
    tell(exchange::listExchanges(exchanges_, number, most));
  });
}

void WorkerRuntime::shutdown() {
  if (leave_) leave_();
  exchanges_.shutdown();
  connections_.forEach([this](DownstreamConnection& connection) { dead_.push_back(connection.handle()); });
  for (const auto handle : dead_) {
    if (connections_.find(handle) != nullptr) connections_.destroy(handle);
  }
  dead_.clear();
  dirty_.clear();
  upstreams_->shutdown();
  accessLog_.flush();
  logTimer_.cancel();
  resolver_.reset();
}

void WorkerRuntime::hand(int fd, const net::Address& peer, std::size_t bind) {
  worker_.post([this, fd, peer, bind] { adopt(fd, peer, bind); });
}

void WorkerRuntime::adopt(int fd, const net::Address& peer, std::size_t bind) {
  const ConnectionParts parts{worker_, limits_, snapshot_->settings.timeouts, &h2Memory_};
  DownstreamConnection& connection =
      connections_.create(parts, static_cast<DirtyList&>(*this), exchanges_, snapshot_->binds[bind].routes, fd, peer, tls_[bind].get());
  if (draining_) connection.drain();
}

void WorkerRuntime::drive() {
  for (const auto handle : dirty_) {
    if (DownstreamConnection* connection = connections_.find(handle)) connection->resume();
  }
  exchanges_.drive();
  upstreams_->drive();
}

void WorkerRuntime::flush() {
  upstreams_->flush();
  batch_.swap(dirty_);
  for (const auto handle : batch_) {
    DownstreamConnection* connection = connections_.find(handle);
    if (connection == nullptr) continue;
    connection->dirty = false;
    connection->flush();
    if (connection->dead()) dead_.push_back(handle);
  }
  batch_.clear();
}

void WorkerRuntime::reap() {
  exchanges_.reap();
  upstreams_->reap();
  for (const auto handle : dead_) {
    if (connections_.find(handle) == nullptr) continue;
    connections_.destroy(handle);
    connectionCount_.fetch_sub(1, std::memory_order_relaxed);
  }
  dead_.clear();
}

bool WorkerRuntime::quiet() const {
  return dirty_.empty() && dead_.empty() && exchanges_.quiet() && upstreams_->quiet();
}

exchange::Downstream* WorkerRuntime::findDownstream(http::Token connection) {
  return connections_.find(base::Handle<DownstreamConnection>::fromToken(connection));
}

void WorkerRuntime::LogTimer::arm() { owner_.worker_.timers().set(*this, owner_.worker_.now() + kLogInterval); }

void WorkerRuntime::LogTimer::onTimer() {
  owner_.accessLog_.flush();
  arm();
}

}  // namespace sluice::server
