#include "proxy/exchange/telemetry/ejection_telemetry.h"

#include <string>
#include <string_view>

#include "proxy/routing/policy/ejection.h"

namespace sluice::exchange {
namespace {

std::string hostAndPort(std::string_view host, std::uint16_t port) {
  const bool isV6 = host.find(':') != std::string_view::npos;
  return (isV6 ? "[" : "") + std::string(host) + (isV6 ? "]:" : ":") + std::to_string(port);
}

std::string nameOf(const EjectionReport& report) {
  if (report.endpoint != nullptr) return "endpoint " + hostAndPort(report.endpoint->ip, report.endpoint->port);
  return hostAndPort(report.backend.hostname, report.backend.port);
}

/// Events of an object can be read in its namespace, where nobody may learn the names of other namespaces' routes.
std::string_view ruleFor(const EjectionReport& report) {
  const auto nameSpaceOf = [](std::string_view object) { return object.substr(0, object.find('/')); };
  const bool isOwn = nameSpaceOf(report.route) == nameSpaceOf(report.backend.name);
  return isOwn ? report.rule : "a rule of another namespace";
}

}  // namespace

void tellEjection(const EjectionReport& report, observe::MetricShard& metrics, observe::EventBatch& events,
                  base::WallTime now) {
  const bool isOfEndpoint = report.endpoint != nullptr;
  metrics
      .at<observe::Metric::kUpstreamEjections>(report.route, report.backend.name, isOfEndpoint ? "endpoint" : "backend")
      .add();
  const std::string message =
      std::string(ruleFor(report)) + " ejects " + nameOf(report) + " " + routing::ejectionText(report.ejection);
  // Endpoints come and go, so each is no event of its own.
  events.add(observe::EventType::kWarning, isOfEndpoint ? "EndpointEjected" : "BackendEjected",
             routing::titleOf(report.backend), message, now, report.rule);
}

}  // namespace sluice::exchange
