#include "proxy/exchange/telemetry/egress_telemetry.h"

#include <algorithm>
#include <string>

namespace sluice::exchange {
namespace {

void tellDenial(const DialReport& report, observe::EventBatch& events, base::WallTime now) {
  const std::string destination = report.backend.hostname + ":" + std::to_string(report.backend.port);
  const std::string_view rule = report.policy.ruleName(report.rule);
  events.add(observe::EventType::kWarning, "EgressDenied", "EgressPolicy " + std::string(report.policy.name()),
             "rule " + std::string(rule) + " denies " + destination, now,
             // Clients must not fill the list of events with names that they choose.
             std::string(rule) + (report.backend.requestedOf != nullptr ? "" : " " + destination));
}

}  // namespace

void EgressTelemetry::onReport(const DialReport& report, base::WallTime now) {
  std::vector<Counters>& ofPolicy = counters_[&report.policy];
  const std::size_t index = std::min(report.rule, report.policy.rules());
  if (ofPolicy.size() <= index) ofPolicy.resize(index + 1);
  observe::Counter*& counter = ofPolicy[index][static_cast<std::size_t>(report.decision)];
  if (counter == nullptr) {
    counter = &metrics_.at<observe::Metric::kEgressDecisions>(report.policy.name(), report.policy.ruleName(report.rule),
                                                              egressDecisionName(report.decision));
  }
  counter->add();
  if (report.decision == EgressDecision::kDenied) tellDenial(report, events_, now);
}

}  // namespace sluice::exchange
