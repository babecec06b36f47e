#include "proxy/exchange/telemetry/exchange_telemetry.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/reply/exchange_names.h"
#include "proxy/exchange/steps/backend_callout.h"
#include "proxy/exchange/telemetry/ejection_telemetry.h"

namespace sluice::exchange {
namespace {

std::string_view errorTypeOf(const Exchange& exchange) {
  return exchange.transaction().error ? base::errorTypeName(exchange.transaction().error->type) : std::string_view{};
}

/// Returns true if the attempt has gone as far as waiting for a connection.
bool wasTried(const Attempt& attempt) { return attempt.begun != base::MonotonicTime{}; }

bool hasFailed(const StepReport& report) { return report.verdict.kind() == processing::Verdict::Kind::kFail; }

/// Fills the fields of a request to a forward proxy, and those that are others there.
void describeProxied(const Transaction& transaction, observe::AccessRecord& record,
                     observe::AccessRecord::Proxied& proxied) {
  const http::RequestHead& head = transaction.request.head;
  const bool isConnect = head.tunnel == http::Tunnel::kStream;
  record.scheme = isConnect ? std::string_view() : http::schemeName(head.scheme);
  record.proxied = &proxied;
  proxied.way = wayOf(transaction);
  proxied.isTunnel = isStreamTunnel(transaction);
  if (!proxied.isTunnel) return;
  const TunnelledBytes passed = tunnelledBytes(transaction);
  record.requestBytes = passed.received;
  record.responseBytes = passed.sent;
  const http::FirstFlight& first = transaction.streamTunnel->first;
  proxied.protocol = http::protocolName(first.protocol());
  proxied.serverName = first.serverName().value_or("");
  proxied.end = endOfTunnel(transaction);
}

/// A step before authentication has no identity, whatever the connection has shown already.
Workload workloadOfStep(const StepReport& report) {
  return report.step.preAuth ? Workload{} : Workload{report.client.nameSpace, report.client.serviceAccount};
}

/// Fills the fields of the caller, as far as it is proven.
void describeCaller(const base::Caller& caller, observe::AccessRecord& record) {
  record.nameSpace = caller.nameSpace;
  record.serviceAccount = caller.serviceAccount;
  record.principal = caller.principal;
  record.assurance = base::assuranceName(caller.assurance);
}

std::string_view resultOf(const StepReport& report) {
  switch (report.outcome) {
    case processing::StepOutcome::kDone:
      return "done";
    case processing::StepOutcome::kSkipped:
      return "skipped";
    case processing::StepOutcome::kRefused:
      return hasFailed(report) ? "failed" : "replied";
    case processing::StepOutcome::kUnreplayable:
      break;
  }
  return "unreplayable";
}

}  // namespace

ExchangeTelemetry::RoutedPlace ExchangeTelemetry::placeOf(const Exchange& exchange) {
  const MatchedRoute& route = exchange.transaction().route;
  return {route.listener, route.rule, exchange.attempt().backend};
}

ExchangeTelemetry::Series& ExchangeTelemetry::seriesOf(const RoutedPlace& place,
                                                       const std::shared_ptr<const base::Caller>& caller) {
  const bool isRecent = recent_ != nullptr && recentCaller_ == caller && recent_->first.place == place;
  if (isRecent) return *recent_;
  const Key key{place, workloadOf(caller.get())};
  if (recent_ == nullptr || recent_->first != key) recent_ = &lookUp(key);
  recentCaller_ = caller;
  return *recent_;
}

ExchangeTelemetry::Series& ExchangeTelemetry::lookUp(const Key& key) {
  if (const auto found = series_.find(key); found != series_.end()) return *found;
  if (series_.size() >= kMostSeries) series_.clear();
  KeptWorkload workload(key.workload);
  const Key kept{key.place, workload.get()};
  return *series_.emplace(kept, RouteSeries{std::move(workload), {}, {}}).first;
}

observe::Gauge& ExchangeTelemetry::activeOf(const Exchange& exchange) {
  auto& [key, series] = seriesOf(placeOf(exchange), exchange.transaction().caller);
  const http::Method method = exchange.transaction().request.head.method;
  observe::Gauge*& active = series.active[static_cast<std::size_t>(method)];
  if (active == nullptr) {
    const ExchangeNames names = namesOf(key.place.listener, key.place.rule, key.place.backend);
    active = &metrics_.at<observe::Metric::kServerActiveRequests>(names.gateway, names.route, names.backend,
                                                                  key.workload.nameSpace, key.workload.serviceAccount,
                                                                  http::methodLabel(method));
  }
  return *active;
}

ExchangeTelemetry::Durations& ExchangeTelemetry::durationsOf(RouteSeries& series, http::Method method,
                                                             std::uint16_t status, std::string_view errorType) {
  const auto found = std::find_if(series.durations.begin(), series.durations.end(), [&](const Durations& known) {
    return known.status == status && known.method == method && known.errorType == errorType;
  });
  if (found != series.durations.end()) return *found;
  return series.durations.emplace_back(Durations{method, status, errorType, nullptr, nullptr});
}

observe::Histogram& ExchangeTelemetry::serverDuration(Durations& durations, const Key& key) {
  if (durations.server == nullptr) {
    const ExchangeNames names = namesOf(key.place.listener, key.place.rule, key.place.backend);
    const observe::StatusLabel status(durations.status);
    durations.server = &metrics_.at<observe::Metric::kServerRequestDuration>(
        names.gateway, names.route, names.backend, key.workload.nameSpace, key.workload.serviceAccount,
        http::methodLabel(durations.method), status, durations.errorType);
  }
  return *durations.server;
}

observe::Histogram& ExchangeTelemetry::clientDuration(Durations& durations, const Key& key) {
  if (durations.client == nullptr) {
    const ExchangeNames names = namesOf(key.place.listener, key.place.rule, key.place.backend);
    const observe::StatusLabel status(durations.status);
    durations.client = &metrics_.at<observe::Metric::kClientRequestDuration>(
        names.gateway, names.route, names.backend, key.workload.nameSpace, key.workload.serviceAccount,
        http::methodLabel(durations.method), status, durations.errorType);
  }
  return *durations.client;
}

void ExchangeTelemetry::adopt(std::string revision) {
  revision_ = std::move(revision);
  letGo();
}

void ExchangeTelemetry::letGo() {
  series_.clear();
  recent_ = nullptr;
  recentCaller_ = nullptr;
  egress_.letGo();
  identities_.letGo();
  steps_.letGo();
}

void ExchangeTelemetry::onRouted(const Exchange& exchange) {
  observe::Gauge& active = activeOf(exchange);
  active.add(1);
  exchange.transaction().counted = &active;
}

void ExchangeTelemetry::onLeftRoute(const Exchange& exchange) {
  if (observe::Gauge* counted = std::exchange(exchange.transaction().counted, nullptr)) counted->add(-1);
}

void ExchangeTelemetry::onRetry(const Exchange& exchange, const Attempt& failed, const base::Error* error) {
  onLeftRoute(exchange);
  if (failed.made) {
    RoutedPlace place = placeOf(exchange);
    place.backend = failed.backend;
    auto& [key, series] = seriesOf(place, exchange.transaction().caller);
    const std::string_view errorType = error != nullptr ? base::errorTypeName(error->type) : std::string_view{};
    const http::Method method = exchange.transaction().request.head.method;
    Durations& durations = durationsOf(series, method, failed.status, errorType);
    clientDuration(durations, key).observe(worker_.clock().now() - failed.begun);
  }
  if (debug_.wants()) tellAttempt(exchange, failed, error);
  onRouted(exchange);
}

void ExchangeTelemetry::onFinished(const Exchange& exchange) {
  const base::MonotonicTime now = worker_.clock().now();
  const Transaction& transaction = exchange.transaction();
  const Attempt& attempt = exchange.attempt();
  onLeftRoute(exchange);
  auto& [key, series] = seriesOf(placeOf(exchange), transaction.caller);
  const http::Method method = transaction.request.head.method;
  const std::string_view errorType = errorTypeOf(exchange);
  Durations* durations = &durationsOf(series, method, transaction.status, errorType);
  serverDuration(*durations, key).observe(now - transaction.started);
  if (attempt.made) {
    if (attempt.status != transaction.status) durations = &durationsOf(series, method, attempt.status, errorType);
    clientDuration(*durations, key).observe(now - attempt.begun);
  }
  if (debug_.wants() && wasTried(attempt)) {
    tellAttempt(exchange, attempt, transaction.error ? &*transaction.error : nullptr);
  }
  if (!attempt.unreplayable.empty()) {
    const ExchangeNames names = namesOf(exchange);
    metrics_.at<observe::Metric::kRetryUnreplayable>(names.route, names.backend).add();
  }
  if (isStreamTunnel(transaction)) tunnels_.onEnded(namesOf(exchange), transaction, now);
  if (accessLog_.enabled()) log(exchange, now);
  if (transaction.error) {
    tell(denialOf(exchange));
    failures_.add(exchange, worker_.clock().wallNow());
  }
}

void ExchangeTelemetry::tellAttempt(const Exchange& exchange, const Attempt& attempt, const base::Error* error) {
  const std::string peer = attempt.peer();
  const std::string message = error != nullptr ? error->message() : std::string();
  const routing::WeightedBackend* backend = attempt.backend;
  const bool known = backend != nullptr && backend->backend != nullptr;
  debug_.write("an attempt has ended",
               {{"request_id", exchange.transaction().requestId},
                {"backend", known ? std::string_view(backend->backend->name) : std::string_view()},
                {"attempt", attempt.number},
                {"upstream.address", peer.empty() && error != nullptr ? error->address : peer},
                {"reused", attempt.request.reused()},
                {"http.response.status_code", attempt.status},
                {"error.type", error != nullptr ? base::errorTypeName(error->type) : std::string_view()},
                {"error.message", message}});
}

/// Records an event for a request that was denied.
void ExchangeTelemetry::tell(const std::optional<Denial>& denial) {
  if (!denial) return;
  events_.add(observe::EventType::kWarning, "RequestDenied", denial->object, denial->message,
              worker_.clock().wallNow());
}

void ExchangeTelemetry::onStep(const StepReport& report) {
  const processing::Step& step = report.step;
  const Workload workload = workloadOfStep(report);
  steps_.durationsOf(step, workload).observe(report.time);
  if (trace_.wants()) tellStep(report);
  if (hasFailed(report)) return onFailedStep(report, workload);
  if (step.health != nullptr && step.health->fails()) onRecoveredStep(step);
}

void ExchangeTelemetry::onRecord(const processing::ProcessorRecord& record) {
  using Level = observe::LogLevel;
  observe::BoundedLog& lines = scriptLines_[record.level == Level::kDebug ? 0 : record.level == Level::kInfo ? 1 : 2];
  if (!lines.wants()) return;
  lines.write("a script writes", {{"text", record.text},
                                  {"type", record.type},
                                  {"processor", record.use},
                                  {"gateway", record.place.gateway},
                                  {"route", record.place.route},
                                  {"backend", record.place.backend}});
}

void ExchangeTelemetry::tellStep(const StepReport& report) {
  const std::string_view cause = hasFailed(report) ? processing::causeName(report.verdict.cause()) : std::string_view();
  trace_.write("a step of a processor has ended", {{"processor", report.step.name},
                                                   {"type", report.step.type},
                                                   {"phase", processing::phaseName(report.step.phase)},
                                                   {"result", resultOf(report)},
                                                   {"cause", cause},
                                                   {"duration_ms", report.time},
                                                   {"gateway", report.place.gateway},
                                                   {"route", report.place.route},
                                                   {"backend", report.place.backend},
                                                   {"client.address", report.client.address}});
}

void ExchangeTelemetry::onFailedStep(const StepReport& report, const Workload& workload) {
  const processing::Step& step = report.step;
  const processing::Cause cause = report.verdict.cause();
  const std::string_view phase = processing::phaseName(step.phase);
  // If the gateway is full, or the request asks for too much work, the processor is not at fault, and the request is
  // denied.
  if (cause != processing::Cause::kNoRoom && cause != processing::Cause::kOverWork) {
    if (step.health != nullptr) step.health->onFailure(worker_.clock().now());
    const std::string_view reason = report.verdict.reason();
    std::string message = step.name + " (" + step.type + "), ";
    message.append(phase).append(": ").append(processing::causeName(cause));
    if (!reason.empty()) message.append(": ").append(reason);
    events_.add(observe::EventType::kWarning, "ProcessorFailed", step.object, message, worker_.clock().wallNow());
  }
  const std::string_view label = report.outcome != processing::StepOutcome::kSkipped ? "closed"
                                 : step.standIn() != nullptr                         ? "fallback"
                                                                                     : "open";
  metrics_
      .at<observe::Metric::kProcessorFailures>(step.type, phase, processing::causeName(cause), label,
                                               workload.nameSpace, workload.serviceAccount)
      .add();
  if (report.outcome == processing::StepOutcome::kUnreplayable) {
    metrics_.at<observe::Metric::kProcessorUnreplayable>(step.type, phase, workload.nameSpace, workload.serviceAccount)
        .add();
  }
}

void ExchangeTelemetry::onRecoveredStep(const processing::Step& step) {
  if (!step.health->takeRecovery(worker_.clock().now())) return;
  events_.add(observe::EventType::kNormal, "ProcessorRecovered", step.object,
              step.name + " (" + step.type + ") does not fail any more", worker_.clock().wallNow());
}

void ExchangeTelemetry::onMirrored(const Mirror& mirror) {
  observe({mirror.method(), mirror.listener().gateway, mirror.rule().route, *mirror.target().backend,
           workloadOf(mirror.caller()), mirror.status(), mirror.error(), mirror.attempted(), mirror.begun()});
}

void ExchangeTelemetry::onCallout(const BackendCallout& callout) {
  const http::ResponseHead* answer = callout.head();
  observe({callout.method(), callout.place().gateway, callout.place().route, callout.plan(),
           workloadOf(callout.caller()), answer != nullptr ? answer->status : std::uint16_t{0}, callout.error(),
           callout.attempted(), callout.begun()});
}

void ExchangeTelemetry::observe(const InternalRequest& request) {
  if (request.error) tell(denialOf(*request.error, request.backend));
  if (!request.attempted) return;
  const std::string_view errorType = request.error ? base::errorTypeName(request.error->type) : std::string_view{};
  metrics_
      .at<observe::Metric::kClientRequestDuration>(request.gateway, request.route, request.backend.name,
                                                   request.workload.nameSpace, request.workload.serviceAccount,
                                                   http::methodLabel(request.method),
                                                   observe::StatusLabel(request.status), errorType)
      .observe(worker_.clock().now() - request.begun);
}

void ExchangeTelemetry::log(const Exchange& exchange, base::MonotonicTime now) {
  const http::RequestHead& request = exchange.transaction().request.head;
  const Attempt& attempt = exchange.attempt();
  const ExchangeNames names = namesOf(exchange);
  const base::Error* error = exchange.transaction().error ? &*exchange.transaction().error : nullptr;
  const std::string message = error != nullptr ? error->message() : std::string();
  const std::string peer = attempt.peer();
  const http::TraceContext trace = exchange.transaction().trace();

  observe::AccessRecord record;
  record.time = worker_.clock().wallNow();
  record.clientAddress = exchange.transaction().client.ip.view();
  record.method = request.methodText;
  record.scheme = exchange.transaction().client.secure ? "https" : "http";
  record.serverAddress = request.authority;
  record.path = request.path();
  record.protocolVersion = http::versionName(request.version);
  record.status = exchange.transaction().status;
  if (error != nullptr) record.failure = {error->type, error->origin};
  record.errorMessage = message;
  record.requestId = exchange.transaction().requestId;
  record.traceId = trace.traceId;
  record.spanId = trace.spanId;
  record.duration = now - exchange.transaction().started;
  if (wasTried(attempt)) record.upstreamDuration = now - attempt.begun;
  record.requestBytes = exchange.transaction().requestBytes;
  record.responseBytes = exchange.transaction().responseBytes;
  record.upstreamAddress = peer.empty() && error != nullptr ? std::string_view(error->address) : peer;
  record.gateway = names.gateway;
  record.listener = names.listener;
  record.route = names.route;
  record.backend = names.backend;
  if (const base::Caller* caller = exchange.transaction().caller.get()) describeCaller(*caller, record);
  record.attempts = attempt.number;
  record.retryRefused = attempt.unreplayable;
  if (const auto* refusal = exchange.refusal(); refusal != nullptr) record.processor = refusal->processor;
  record.revision = exchange.revision(revision_);
  if (const EgressState* egress = exchange.transaction().egress; egress != nullptr && egress->policy != nullptr) {
    record.policy = egress->policy->name();
    record.rule = egress->policy->ruleName(egress->rule);
    record.decision = egressDecisionName(egress->decision);
  }
  observe::AccessRecord::Proxied proxied;
  if (exchange.transaction().client.forwardProxy) describeProxied(exchange.transaction(), record, proxied);
  accessLog_.append(record);
  if (accessLog_.wantsFlush()) accessLog_.flush();
}

void ExchangeTelemetry::onEgress(const DialReport& report) { egress_.onReport(report, worker_.clock().wallNow()); }

void ExchangeTelemetry::onEjection(const EjectionReport& report) {
  tellEjection(report, metrics_, events_, worker_.clock().wallNow());
}

void ExchangeTelemetry::onLimit(std::string_view limit) { metrics_.at<observe::Metric::kLimitHits>(limit).add(); }

}  // namespace sluice::exchange
