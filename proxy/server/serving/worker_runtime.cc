#include "proxy/server/serving/worker_runtime.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "proxy/server/serving/http_limits.h"

namespace sluice::server {
namespace {

constexpr base::Duration kLogInterval = std::chrono::seconds(1);

exchange::ExchangeParts exchangeParts(const RuntimeParts& parts, net::Worker& worker,
                                      exchange::Downstreams& downstreams, exchange::ExchangeObserver& observer,
                                      observe::MetricShard& metrics) {
  const base::Settings& settings = parts.generation->snapshot->settings;
  return {worker,
          downstreams,
          observer,
          exchange::GatewayIdentity(parts.instance, settings.forwarded, settings.requestId),
          settings.timeouts,
          settings.limits,
          settings.retryBudget,
          parts.randomSeed,
          parts.budgets.buffers,
          parts.budgets.clients,
          parts.budgets.heads,
          parts.budgets.tunnels,
          parts.budgets.passwords,
          metrics};
}

}  // namespace

WorkerRuntime::WorkerRuntime(Private, const RuntimeParts& parts)
    : sessionSealer_(parts.sessionSealer),
      settingsOwner_(parts.settingsOwner),
      generation_(parts.generation),
      limits_(httpLimits(generation_->snapshot->settings)),
      timeouts_(generation_->snapshot->settings.timeouts),
      worker_(parts.clock),
      metrics_(parts.metrics),
      accessLog_(parts.accessLog, parts.log, &metrics_.at<observe::Metric::kLogLinesDropped>(),
                 [this](std::string_view reason) { tellLogLosses(reason); }),
      relay_(parts.events),
      telemetry_(worker_, metrics_, accessLog_, generation_->revision, events_, parts.log),
      debug_(parts.log, worker_.clock()),
      exchanges_(exchangeParts(parts, worker_, *this, telemetry_, metrics_)),
      dialer_(worker_),
      logTimer_(*this),
      eventTimer_(*this) {}

WorkerRuntime::~WorkerRuntime() = default;

base::Result<std::unique_ptr<WorkerRuntime>> WorkerRuntime::make(const RuntimeParts& parts) {
  auto runtime = std::make_unique<WorkerRuntime>(Private{}, parts);
  base::Status prepared = runtime->prepare(parts);
  if (!prepared.ok()) return prepared.error();
  return runtime;
}

base::Status WorkerRuntime::prepare(const RuntimeParts& parts) {
  const auto share = [this](const net::DnsAnswer& answer) {
    if (others_.empty()) return;
    const auto shared = std::make_shared<const net::DnsAnswer>(answer);
    for (WorkerRuntime* other : others_) other->learn(shared);
  };
  auto resolver = net::makeResolver(worker_, generation_->snapshot->settings.dns,
                                    {.metrics = &metrics_, .maxLookups = parts.lookups, .share = share});
  if (!resolver.ok()) return resolver.error();
  resolver_ = std::move(*resolver);
  upstreams_ = std::make_unique<upstream::Upstreams>(
      upstream::UpstreamParts{worker_, *resolver_, dialer_, parts.budgets.upstream, parts.budgets.failedAddresses,
                              metrics_, h2Memory_, policyOf(*generation_->snapshot),
                              // A separate sequence from the one that chooses among the weighted backends of a rule.
                              base::Random(parts.randomSeed).next(), &debug_, parts.zone});
  // Rules may hold plans of Services with earlier endpoints than these.
  upstreams_->adopt(policyOf(*generation_->snapshot), generation_->snapshot->backends);
  exchanges_.setUpstreams(*upstreams_);
  applySettings();
  worker_.setBeats(this);
  worker_.setDescriptors(parts.descriptors);
  return base::Done{};
}

void WorkerRuntime::shareAnswers(const std::vector<WorkerRuntime*>& workers) {
  std::copy_if(workers.begin(), workers.end(), std::back_inserter(others_),
               [this](const WorkerRuntime* worker) { return worker != this; });
}

void WorkerRuntime::learn(std::shared_ptr<const net::DnsAnswer> answer) {
  worker_.post([this, answer = std::move(answer)] {
    if (resolver_ != nullptr) resolver_->learn(*answer);
  });
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

void WorkerRuntime::announceEnd() {
  worker_.post([this] {
    endAnnounced_ = true;
    connections_.forEach([](DownstreamConnection& connection) { connection.announceEnd(); });
  });
}

// Idle connections end one turn of the loop after the announcement. So a request that has reached the socket already is
// read and answered.
void WorkerRuntime::drain() {
  announceEnd();
  const auto drainAll = [this] {
    draining_ = true;
    connections_.forEach([](DownstreamConnection& connection) { connection.drain(); });
  };
  worker_.post([this, drainAll] { worker_.post(drainAll); });
}

void WorkerRuntime::listExchanges(std::size_t number, std::size_t most,
                                  std::function<void(exchange::ExchangeList)> tell) {
  worker_.post([this, number, most, tell = std::move(tell)] {
    exchange::ExchangeList list = exchange::listExchanges(exchanges_, number, most);
    list.failures = telemetry_.failures();
    tell(std::move(list));
  });
}

void WorkerRuntime::shutdown() {
  if (leave_) leave_();
  change_.reset();
  exchanges_.shutdown();
  connections_.clear();
  upstreams_->shutdown();
  accessLog_.flush();
  logTimer_.cancel();
  eventTimer_.cancel();
  resolver_.reset();
}

void WorkerRuntime::adopt(std::shared_ptr<const control::Generation> generation, std::function<void()> adopted) {
  worker_.post([this, change = Change{std::move(generation), std::move(adopted)}] {
    if (resolver_ != nullptr) change_ = change;  // after shutdown(), the parts ignore further changes
  });
}

// Called when no work is left in the beat: each exchange knows its listener, and also its rule, unless a step before
// the match waits.
void WorkerRuntime::change() {
  const Change change = *std::exchange(change_, std::nullopt);
  const routing::Snapshot& snapshot = *change.generation->snapshot;
  limits_ = httpLimits(snapshot.settings);
  timeouts_ = snapshot.settings.timeouts;
  exchanges_.adopt(snapshot.settings, generation_->revision);
  telemetry_.adopt(change.generation->revision);
  upstreams_->adopt(policyOf(snapshot), snapshot.backends);
  connections_.forEach([&](DownstreamConnection& connection) {
    const control::ServedBind* bind = change.generation->find(connection.bind());
    std::visit([&](const routing::HttpService& service) { connection.follow(service); },
               bind != nullptr ? *bind->service : noService_);
    if (bind == nullptr) connection.drain();
  });
  generation_ = change.generation;
  exchanges_.sweepStates();
  forgetSeries();
  applySettings();
  change.adopted();
}

void WorkerRuntime::forgetSeries() {
  const std::set<std::string_view> counting = upstreams_->counting();
  telemetry_.letGo();
  metrics_.forget([&](std::string_view object) {
    return generation_->objects.contains(std::string(object)) || counting.contains(object);
  });
}

void WorkerRuntime::applySettings() {
  const base::Settings& settings = generation_->snapshot->settings;
  exchanges_.refuseConnectionAuth(settings.connectionAuth == base::ConnectionAuth::kRefuse);
  exchanges_.nameBackends(settings.errorDetail == base::ErrorDetail::kNames);
  clientHalfClose_ = settings.clientHalfClose;
  const auto& configured = generation_->snapshot->sessionSealer;
  exchanges_.sealSessions(configured != nullptr ? configured : sessionSealer_);
}

void WorkerRuntime::hand(AcceptedClient client) {
  worker_.post([this, client = std::move(client)]() mutable { take(std::move(client)); });
}

void WorkerRuntime::take(AcceptedClient client) {
  const control::ServedBind* served = generation_->find(client.bind);
  if (served == nullptr) {  // its listener was removed while the connection was on its way
    ::close(client.fd);
    connectionCount_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (debug_.wants()) {
    debug_.write("a client has connected",
                 {{"client.address", client.peer.toString()}, {"tls", served->tls != nullptr}});
  }
  const auto serve = [&](const routing::HttpService& service) {
    DownstreamConnection& connection = connections_.create(connectionParts_, static_cast<ConnectionLists&>(*this),
                                                           exchanges_, *served, service, std::move(client));
    if (endAnnounced_) connection.announceEnd();
    if (draining_) connection.drain();
  };
  std::visit(serve, *served->service);
}

void WorkerRuntime::tellRefusal(control::BindId bind, std::string_view limit) {
  const control::ServedBind* served = generation_->find(bind);
  if (served == nullptr) return;
  const auto place = static_cast<std::size_t>(served - generation_->binds.data());
  events_.add(observe::EventType::kWarning, "ConnectionDenied", generation_->snapshot->binds[place].gateway,
              "a connection was closed because of limits." + std::string(limit), worker_.clock().wallNow());
  if (relay_ != nullptr) eventTimer_.arm();  // the beat may have nothing else to do
}

void WorkerRuntime::tellLogLosses(std::string_view reason) {
  events_.add(observe::EventType::kWarning, "AccessLogLinesLost", settingsOwner_,
              "access log lines are being lost: " + std::string(reason), worker_.clock().wallNow());
  if (relay_ != nullptr) eventTimer_.arm();  // the lines are written by a timer, too
}

void WorkerRuntime::drive() {
  connections_.drive([](DownstreamConnection& connection) { connection.resume(); });
  exchanges_.drive();
  upstreams_->drive();
}

void WorkerRuntime::flush() {
  upstreams_->flush();
  connections_.flush();
}

void WorkerRuntime::reap() {
  exchanges_.reap();
  upstreams_->reap();
  connections_.reap([this] { connectionCount_.fetch_sub(1, std::memory_order_relaxed); });
  if (change_ && settled()) change();
  if (upstreams_->takeLeft()) forgetSeries();
  if (relay_ != nullptr && !events_.empty()) eventTimer_.arm();
}

bool WorkerRuntime::settled() const { return connections_.quiet() && exchanges_.quiet() && upstreams_->quiet(); }

exchange::Downstream* WorkerRuntime::findDownstream(http::Token connection) {
  return connections_.find(base::Handle<DownstreamConnection>::fromToken(connection));
}

void WorkerRuntime::EventTimer::arm() {
  if (!isSet()) owner_.worker_.timers().set(*this, owner_.worker_.now() + kLogInterval);
}

void WorkerRuntime::EventTimer::onTimer() { owner_.relay_->send(owner_.events_); }

void WorkerRuntime::LogTimer::arm() { owner_.worker_.timers().set(*this, owner_.worker_.now() + kLogInterval); }

void WorkerRuntime::LogTimer::onTimer() {
  owner_.accessLog_.flush();
  arm();
}

}  // namespace sluice::server
