#include "proxy/exchange/telemetry/exchange_telemetry.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/reply/exchange_names.h"
#include "proxy/exchange/steps/backend_callout.h"

namespace sluice::exchange {
namespace {

std::string_view errorTypeOf(const Exchange& exchange) {
  return exchange.transaction().error ? base::errorTypeName(exchange.transaction().error->type) : std::string_view{};
}

/// Returns true if the attempt has gone as far as waiting for a connection.
bool wasTried(const Attempt& attempt) { return attempt.begun != base::MonotonicTime{}; }

bool hasFailed(const StepReport& report) { return report.verdict.kind() == processing::Verdict::Kind::kFail; }

std::string_view schemeOf(const Transaction& transaction) {
  if (!transaction.client.forwardProxy) return transaction.client.secure ? "https" : "http";
  const http::RequestHead& head = transaction.request.head;
  return head.tunnel == http::Tunnel::kStream ? std::string_view() : http::schemeName(head.scheme);
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

ExchangeTelemetry::Key ExchangeTelemetry::keyOf(const Exchange& exchange) {
  const MatchedRoute& route = exchange.transaction().route;
  return {route.listener, route.rule, exchange.attempt().backend};
}

ExchangeTelemetry::RouteSeries& ExchangeTelemetry::seriesOf(const Key& key) {
  if (recent_ != nullptr && recent_->first == key) return recent_->second;
  recent_ = &*series_.try_emplace(key).first;
  return recent_->second;
}

observe::Gauge& ExchangeTelemetry::activeOf(const Exchange& exchange, const Key& key) {
  const http::Method method = exchange.transaction().request.head.method;
  observe::Gauge*& active = seriesOf(key).active[static_cast<std::size_t>(method)];
  if (active == nullptr) {
    const ExchangeNames names = namesOf(key.listener, key.rule, key.backend);
    active = &metrics_.at<observe::Metric::kServerActiveRequests>(names.gateway, names.route, names.backend, "", "",
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
    const ExchangeNames names = namesOf(key.listener, key.rule, key.backend);
    const observe::StatusLabel status(durations.status);
    durations.server = &metrics_.at<observe::Metric::kServerRequestDuration>(
        names.gateway, names.route, names.backend, "", "", http::methodLabel(durations.method), status,
        durations.errorType);
  }
  return *durations.server;
}

observe::Histogram& ExchangeTelemetry::clientDuration(Durations& durations, const Key& key) {
  if (durations.client == nullptr) {
    const ExchangeNames names = namesOf(key.listener, key.rule, key.backend);
    const observe::StatusLabel status(durations.status);
    durations.client = &metrics_.at<observe::Metric::kClientRequestDuration>(
        names.gateway, names.route, names.backend, "", "", http::methodLabel(durations.method), status,
        durations.errorType);
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
  egress_.letGo();
  stepDurations_.clear();
}

void ExchangeTelemetry::onRouted(const Exchange& exchange) { activeOf(exchange).add(1); }

void ExchangeTelemetry::onLeftRoute(const Exchange& exchange) { activeOf(exchange).add(-1); }

void ExchangeTelemetry::onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
                                const base::Error* error) {
  Key key = keyOf(exchange);
  key.backend = failed.backend;
  activeOf(exchange, key).add(-1);
  const std::string_view errorType = error != nullptr ? base::errorTypeName(error->type) : std::string_view{};
  Durations& durations = durationsOf(seriesOf(key), exchange.transaction().request.head.method, status, errorType);
  clientDuration(durations, key).observe(worker_.clock().now() - failed.begun);
  if (debug_.wants()) tellAttempt(exchange, failed, status, error);
  activeOf(exchange).add(1);
}

void ExchangeTelemetry::onFinished(const Exchange& exchange) {
  const base::MonotonicTime now = worker_.clock().now();
  const Transaction& transaction = exchange.transaction();
  const Key key = keyOf(exchange);
  if (transaction.routed) activeOf(exchange, key).add(-1);
  Durations& durations =
      durationsOf(seriesOf(key), transaction.request.head.method, transaction.status, errorTypeOf(exchange));
  serverDuration(durations, key).observe(now - transaction.started);
  if (wasTried(exchange.attempt())) {
    clientDuration(durations, key).observe(now - exchange.attempt().begun);
    const base::Error* error = transaction.error ? &*transaction.error : nullptr;
    if (debug_.wants()) tellAttempt(exchange, exchange.attempt(), transaction.status, error);
  }
  if (isStreamTunnel(transaction)) tunnels_.onEnded(namesOf(exchange), transaction, now);
  if (accessLog_.enabled()) log(exchange, now);
  if (transaction.error) tell(denialOf(exchange));
}

void ExchangeTelemetry::tellAttempt(const Exchange& exchange, const Attempt& attempt, std::uint16_t status,
                                    const base::Error* error) {
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
                {"http.response.status_code", status},
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
  observe::Histogram* known = step.number < stepDurations_.size() ? stepDurations_[step.number] : nullptr;
  if (known == nullptr) known = &lookUpDurations(step);
  known->observe(report.time);
  if (trace_.wants()) tellStep(report);
  if (hasFailed(report)) return onFailedStep(step, report.verdict.cause(), report.outcome);
  if (step.health != nullptr && step.health->fails()) onRecoveredStep(step);
}

observe::Histogram& ExchangeTelemetry::lookUpDurations(const processing::Step& step) {
  auto& durations = metrics_.at<observe::Metric::kProcessorDuration>(step.type, processing::phaseName(step.phase));
  if (step.number == 0) return durations;
  if (step.number >= stepDurations_.size()) stepDurations_.resize(step.number + std::size_t{1});
  stepDurations_[step.number] = &durations;
  return durations;
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
                                                   {"client.address", report.client}});
}

void ExchangeTelemetry::onFailedStep(const processing::Step& step, processing::Cause cause,
                                     processing::StepOutcome outcome) {
  const std::string_view phase = processing::phaseName(step.phase);
  // If the gateway is full, the processor is not at fault, and the request is denied.
  if (cause != processing::Cause::kNoRoom) {
    if (step.health != nullptr) step.health->onFailure(worker_.clock().now());
    events_.add(
        observe::EventType::kWarning, "ProcessorFailed", step.object,
        step.name + " (" + step.type + "), " + std::string(phase) + ": " + std::string(processing::causeName(cause)),
        worker_.clock().wallNow());
  }
  metrics_
      .at<observe::Metric::kProcessorFailures>(step.type, phase, processing::causeName(cause),
                                               outcome == processing::StepOutcome::kSkipped ? "open" : "closed")
      .add();
  if (outcome == processing::StepOutcome::kUnreplayable) {
    metrics_.at<observe::Metric::kProcessorUnreplayable>(step.type, phase).add();
  }
}

void ExchangeTelemetry::onRecoveredStep(const processing::Step& step) {
  if (!step.health->takeRecovery(worker_.clock().now())) return;
  events_.add(observe::EventType::kNormal, "ProcessorRecovered", step.object,
              step.name + " (" + step.type + ") does not fail any more", worker_.clock().wallNow());
}

void ExchangeTelemetry::onMirrored(const Mirror& mirror) {
  observe({mirror.method(), mirror.listener().gateway, mirror.rule().route, *mirror.target().backend, mirror.status(),
           mirror.error(), mirror.begun()});
}

void ExchangeTelemetry::onCallout(const BackendCallout& callout) {
  const http::ResponseHead* answer = callout.head();
  const std::uint16_t failed = callout.error() ? callout.error()->status : std::uint16_t{0};
  observe({callout.method(), callout.place().gateway, callout.place().route, callout.plan(),
           answer != nullptr ? answer->status : failed, callout.error(), callout.begun()});
}

void ExchangeTelemetry::observe(const InternalRequest& request) {
  const std::string_view errorType = request.error ? base::errorTypeName(request.error->type) : std::string_view{};
  metrics_
      .at<observe::Metric::kClientRequestDuration>(request.gateway, request.route, request.backend.name, "", "",
                                                   http::methodLabel(request.method),
                                                   observe::StatusLabel(request.status), errorType)
      .observe(worker_.clock().now() - request.begun);
  if (request.error) tell(denialOf(*request.error, request.backend));
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
  record.scheme = schemeOf(exchange.transaction());
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
  record.attempts = attempt.number;
  if (const auto* refusal = exchange.refusal(); refusal != nullptr) record.processor = refusal->processor;
  record.revision = exchange.revision(revision_);
  if (const EgressState* egress = exchange.transaction().egress; egress != nullptr && egress->policy != nullptr) {
    record.policy = egress->policy->name();
    record.rule = egress->policy->ruleName(egress->rule);
    record.decision = egressDecisionName(egress->decision);
  }
  record.way = wayOf(exchange.transaction());
  if (isStreamTunnel(exchange.transaction())) {
    const TunnelledBytes passed = tunnelledBytes(exchange.transaction());
    record.requestBytes = passed.received;
    record.responseBytes = passed.sent;
    const http::FirstFlight& first = exchange.transaction().streamTunnel->first;
    record.tunnel = {http::protocolName(first.protocol()), first.serverName().value_or(""),
                     endOfTunnel(exchange.transaction())};
  }
  accessLog_.append(record);
  if (accessLog_.wantsFlush()) accessLog_.flush();
}

void ExchangeTelemetry::onEgress(const DialReport& report) { egress_.onReport(report, worker_.clock().wallNow()); }

void ExchangeTelemetry::onLimit(std::string_view limit) { metrics_.at<observe::Metric::kLimitHits>(limit).add(); }

}  // namespace sluice::exchange
