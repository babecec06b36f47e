#include "proxy/exchange/report.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/exchange_names.h"

namespace sluice::exchange {
namespace {

std::string_view errorTypeOf(const Exchange& exchange) {
  return exchange.error() ? base::errorTypeName(exchange.error()->type) : std::string_view{};
}

}  // namespace

Report::Series& Report::seriesOf(const Exchange& exchange) {
  const Key key{exchange.rule(), exchange.attempt().backend};
  if (recent_ != nullptr && recent_->first == key) return recent_->second;
  recent_ = &*series_.try_emplace(key).first;
  Series& series = recent_->second;
  if (series.active == nullptr) {
    const ExchangeNames names = namesOf(exchange);
    series.active =
        &metrics_.at<observe::Metric::kServerActiveRequests>(names.gateway, names.route, names.backend, "", "");
  }
  return series;
}

Report::Durations& Report::durationsOf(Series& series, const Exchange& exchange) {
  const std::string_view errorType = errorTypeOf(exchange);
  const auto found = std::find_if(series.durations.begin(), series.durations.end(), [&](const Durations& known) {
    return known.status == exchange.status() && known.errorType == errorType;
  });
  Durations& durations = found != series.durations.end()
                             ? *found
                             : series.durations.emplace_back(Durations{exchange.status(), errorType, nullptr, nullptr});
  const bool attempted = exchange.attempt().number > 0;
  if (durations.server != nullptr && (durations.client != nullptr || !attempted)) return durations;
  const ExchangeNames names = namesOf(exchange);
  const observe::StatusLabel status(exchange.status());
  durations.server = &metrics_.at<observe::Metric::kServerRequestDuration>(names.gateway, names.route, names.backend,
                                                                           "", "", status, errorType);
  if (attempted) {
    durations.client = &metrics_.at<observe::Metric::kClientRequestDuration>(names.gateway, names.route, names.backend,
                                                                             "", "", status, errorType);
  }
  return durations;
}

void Report::adopt(std::string revision) {
  revision_ = std::move(revision);
  series_.clear();
  recent_ = nullptr;
}

void Report::onRouted(const Exchange& exchange) { seriesOf(exchange).active->add(1); }

void Report::onFinished(const Exchange& exchange) {
  const base::MonotonicTime now = worker_.clock().now();
  Series& series = seriesOf(exchange);
  if (exchange.routed()) series.active->add(-1);
  const Durations& durations = durationsOf(series, exchange);
  durations.server->observe(now - exchange.started());
  if (durations.client != nullptr && exchange.attempt().number > 0)
    durations.client->observe(now - exchange.attempt().begun);
  if (accessLog_.enabled()) log(exchange, now);
}

void Report::log(const Exchange& exchange, base::MonotonicTime now) {
  const http::RequestHead& request = exchange.request();
  const Attempt& attempt = exchange.attempt();
  const ExchangeNames names = namesOf(exchange);
  const std::string client = exchange.origin().client.ip();
  const std::string upstreamAddress = attempt.hasPeer ? attempt.peer.toString() : std::string();

  observe::AccessRecord record;
  record.time = worker_.clock().wallNow();
  record.clientAddress = client;
  record.method = request.methodText;
  record.scheme = exchange.origin().secure ? "https" : "http";
  record.serverAddress = request.authority;
  record.path = request.path();
  record.protocolVersion = http::versionName(request.version);
  record.status = exchange.status();
  if (exchange.error()) record.failure = {exchange.error()->type, exchange.error()->origin};
  record.duration = now - exchange.started();
  if (attempt.number > 0) record.upstreamDuration = now - attempt.begun;
  record.requestBytes = exchange.requestBytes();
  record.responseBytes = exchange.responseBytes();
  record.upstreamAddress = upstreamAddress;
  record.gateway = names.gateway;
  record.listener = names.listener;
  record.route = names.route;
  record.backend = names.backend;
  record.attempts = attempt.number;
  record.revision = exchange.revision(revision_);
  accessLog_.append(record);
  if (accessLog_.wantsFlush()) accessLog_.flush();
}

void Report::onLimit(std::string_view limit) { metrics_.at<observe::Metric::kLimitHits>(limit).add(); }

}  // namespace sluice::exchange
