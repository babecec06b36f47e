// The one table of all metrics: name, kind, labels and help of each family, as the product fixes them.
//
// Durations are in base units (seconds); gateways, routes and backends are "namespace/name"; namespace and
// serviceAccount are the calling workload's; an unknown value is "". A new metric is a new row here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::observe {

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

enum class Metric : std::uint8_t {
  kServerRequestDuration,
  kServerActiveRequests,
  kClientRequestDuration,
  kClientOpenConnections,
  kDownstreamConnections,
  kDownstreamBytes,
  kDnsLookupDuration,
  kUpstreamTlsHandshakes,
  kUpstreamEjections,
  kRetryUnreplayable,
  kProcessorDuration,
  kProcessorFailures,
  kProcessorUnreplayable,
  kLibraryCalls,
  kLimitHits,
  kAddressDenied,
  kEgressDecisions,
  kIdentity,
  kTunnels,
  kTunnelsEnded,
  kTunnelBytes,
  kTunnelDuration,
  kConfigState,
  kConfigReloads,
  kEventsDropped,
  kLogLinesDropped,
  kSeriesDropped,
};

inline constexpr std::size_t kMaxMetricLabels = 8;

struct MetricFamily {
  Metric id;
  MetricKind kind;
  std::string_view name;
  std::array<std::string_view, kMaxMetricLabels> labels;  // unused ones are empty
  std::string_view help;

  constexpr std::size_t labelCount() const {
    std::size_t count = 0;
    while (count < labels.size() && !labels[count].empty()) ++count;
    return count;
  }
};

inline constexpr auto kMetricFamilies = std::to_array<MetricFamily>({
    {Metric::kServerRequestDuration,
     MetricKind::kHistogram,
     "http_server_request_duration_seconds",
     {"gateway", "route", "backend", "namespace", "serviceAccount", "http_request_method", "http_response_status_code",
      "error_type"},
     "Time from a request's head to the end of its answer."},
    {Metric::kServerActiveRequests,
     MetricKind::kGauge,
     "http_server_active_requests",
     {"gateway", "route", "backend", "namespace", "serviceAccount", "http_request_method"},
     "Requests in flight."},
    {Metric::kClientRequestDuration,
     MetricKind::kHistogram,
     "http_client_request_duration_seconds",
     {"gateway", "route", "backend", "namespace", "serviceAccount", "http_request_method", "http_response_status_code",
      "error_type"},
     "Time of one attempt at a backend, from the request to the end of the answer; without a connection, from the wait "
     "for one. The status is the backend's, and empty without an answer."},
    {Metric::kClientOpenConnections,
     MetricKind::kGauge,
     "http_client_open_connections",
     {"backend", "http_connection_state"},
     "Connections open towards backends; the state is active or idle."},
    {Metric::kDownstreamConnections,
     MetricKind::kGauge,
     "sluice_client_connections",
     {},
     "Connections of clients that are open."},
    {Metric::kDownstreamBytes,
     MetricKind::kCounter,
     "sluice_client_bytes_total",
     {"direction"},
     "Bytes of HTTP received from clients and sent to them, without those of TLS; the direction is receive or "
     "transmit."},
    {Metric::kDnsLookupDuration,
     MetricKind::kHistogram,
     "dns_lookup_duration_seconds",
     {"dns_question_name", "error_type"},
     "Time of one question to DNS, its retries included."},
    {Metric::kUpstreamTlsHandshakes,
     MetricKind::kCounter,
     "sluice_upstream_tls_handshakes_total",
     {"result", "resumed", "backend"},
     "TLS handshakes with backends that have begun; result is success or the error type, resumed is true or false."},
    {Metric::kUpstreamEjections,
     MetricKind::kCounter,
     "sluice_upstream_ejections_total",
     {"route", "backend", "ejected"},
     "Ejections by the outlier detection of rules; what is ejected is endpoint or backend."},
    {Metric::kRetryUnreplayable,
     MetricKind::kCounter,
     "sluice_retry_unreplayable_total",
     {"route", "backend"},
     "Retries that were not made because the request's body was not kept any more: it is too long, or there was no "
     "room."},
    {Metric::kProcessorDuration,
     MetricKind::kHistogram,
     "sluice_processor_duration_seconds",
     {"type", "phase", "namespace", "serviceAccount"},
     "Time that one step of a payload processor took."},
    {Metric::kProcessorFailures,
     MetricKind::kCounter,
     "sluice_processor_failures_total",
     {"type", "phase", "reason", "outcome", "namespace", "serviceAccount"},
     "Steps of payload processors that failed; the outcome is open (skipped) or closed (the request was refused)."},
    {Metric::kProcessorUnreplayable,
     MetricKind::kCounter,
     "sluice_processor_unreplayable_total",
     {"type", "phase", "namespace", "serviceAccount"},
     "Steps that fail open and had to fail closed: they had changed a body that was gone already."},
    {Metric::kLibraryCalls,
     MetricKind::kHistogram,
     "sluice_library_call_duration_seconds",
     {"type", "phase"},
     "Time that one call of a payload processor's library held up its worker."},
    {Metric::kLimitHits,
     MetricKind::kCounter,
     "sluice_limit_hits_total",
     {"limit"},
     "How often a limit or timeout was hit, by its name in the settings, a rule or a policy."},
    {Metric::kAddressDenied,
     MetricKind::kCounter,
     "sluice_address_denied_total",
     {"class"},
     "Addresses that a name stood for and that were not dialled, by what they are for."},
    {Metric::kEgressDecisions,
     MetricKind::kCounter,
     "sluice_egress_decisions_total",
     {"policy", "rule", "decision"},
     "Destinations that an EgressPolicy has judged; the decision is allowed, denied or audited."},
    {Metric::kIdentity,
     MetricKind::kCounter,
     "sluice_identity_total",
     {"source", "result"},
     "What callers have shown of their identity, by its source: certificate, token or address; the result is "
     "identified, absent or refused."},
    {Metric::kTunnels,
     MetricKind::kGauge,
     "sluice_tunnels",
     {"gateway", "route", "backend", "way"},
     "Tunnels that are open."},
    {Metric::kTunnelsEnded,
     MetricKind::kCounter,
     "sluice_tunnels_total",
     {"gateway", "route", "backend", "way", "end"},
     "Tunnels that have ended, by the reason: client, backend, idle, total, policy, drain or error."},
    {Metric::kTunnelBytes,
     MetricKind::kCounter,
     "sluice_tunnel_bytes_total",
     {"gateway", "route", "backend", "direction"},
     "Bytes that tunnels have carried, counted when they end: received from clients (receive) and sent to them "
     "(transmit)."},
    {Metric::kTunnelDuration,
     MetricKind::kHistogram,
     "sluice_tunnel_duration_seconds",
     {"gateway", "way"},
     "Time from the answer that opened a tunnel to its end."},
    {Metric::kConfigState,
     MetricKind::kGauge,
     "sluice_config_state",
     {"state"},
     "1 for the state that the configuration is in, 0 for the others."},
    {Metric::kConfigReloads,
     MetricKind::kCounter,
     "sluice_config_reloads_total",
     {"result"},
     "Configurations that were read again; result is success, failure or unchanged."},
    {Metric::kEventsDropped,
     MetricKind::kCounter,
     "sluice_events_dropped_total",
     {},
     "Events that were counted nowhere else, because there were too many different ones."},
    {Metric::kLogLinesDropped,
     MetricKind::kCounter,
     "sluice_log_lines_dropped_total",
     {},
     "Lines of the access log and of the process log that could not be written."},
    {Metric::kSeriesDropped,
     MetricKind::kCounter,
     "sluice_metric_series_dropped_total",
     {},
     "Look-ups of a new series that were answered with __other__ because its namespace or the family was full."},
});

constexpr const MetricFamily& familyOf(Metric metric) { return kMetricFamilies[static_cast<std::size_t>(metric)]; }

static_assert(
    [] {
      for (std::size_t i = 0; i < kMetricFamilies.size(); ++i) {
        if (kMetricFamilies[i].id != static_cast<Metric>(i)) return false;
      }
      return true;
    }(),
    "the table stands in the order of Metric");

}  // namespace sluice::observe
