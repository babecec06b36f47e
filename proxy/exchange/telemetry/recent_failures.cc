#include "proxy/exchange/telemetry/recent_failures.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/reply/exchange_names.h"

namespace sluice::exchange {
namespace {

std::string clipped(std::string_view text) { return std::string(text.substr(0, RecentFailures::kMostText)); }

std::string clientOf(const Transaction& transaction) {
  const base::Caller* caller = transaction.caller.get();
  if (caller != nullptr && !caller->principal.empty()) return clipped(caller->principal);
  if (caller != nullptr && !caller->serviceAccount.empty()) {
    return clipped(caller->nameSpace + "/" + caller->serviceAccount);
  }
  return std::string(transaction.client.ip.view());
}

bool isDenial(base::ErrorType type) {
  switch (type) {
    case base::ErrorType::kHttpRequestDenied:
    case base::ErrorType::kAuthenticationRequired:
    case base::ErrorType::kProxyAuthenticationRequired:
    case base::ErrorType::kDestinationIpProhibited:
      return true;
    default:
      return false;
  }
}

/// Returns the party that denied the request.
std::string denierOf(const Exchange& exchange) {
  const Transaction& transaction = exchange.transaction();
  if (const auto* refusal = exchange.refusal(); refusal != nullptr) return refusal->processor;
  const EgressState* egress = transaction.egress;
  if (egress != nullptr && egress->policy != nullptr && egress->decision == EgressDecision::kDenied) {
    const std::string_view rule = egress->policy->ruleName(egress->rule);
    std::string by(egress->policy->name());
    if (!rule.empty()) by.append(", rule ").append(rule);
    return by;
  }
  return transaction.error->type == base::ErrorType::kDestinationIpProhibited ? "address guard" : "authentication";
}

}  // namespace

void RecentFailures::add(const Exchange& exchange, base::WallTime now) {
  const Transaction& transaction = exchange.transaction();
  const base::Error& error = *transaction.error;
  const auto origin = static_cast<std::size_t>(error.origin);
  ++counts_[origin][static_cast<std::size_t>(error.type)];
  Ring& ring = rings_[origin];
  if (ring.failures.size() < kMostOfOrigin) ring.failures.emplace_back();
  RecentFailure& failure = ring.failures[ring.next];
  ring.next = (ring.next + 1) % kMostOfOrigin;
  const ExchangeNames names = namesOf(exchange);
  const http::RequestHead& head = transaction.request.head;
  failure = {now,
             clipped(transaction.requestId),
             error.origin,
             error.type,
             transaction.status,
             clipped(error.message()),
             clipped(head.methodText),
             clipped(head.authority),
             std::string(names.gateway),
             std::string(names.route),
             std::string(names.backend),
             clientOf(transaction)};
  if (isDenial(error.type)) addDenial(exchange, failure);
}

void RecentFailures::addDenial(const Exchange& exchange, const RecentFailure& failure) {
  const base::Caller* caller = exchange.transaction().caller.get();
  const base::Assurance assurance = caller != nullptr ? caller->assurance : base::Assurance::kNone;
  std::vector<DeniedCaller>& denied = denied_[assurance == base::Assurance::kNone ? 0 : 1];
  std::string by = denierOf(exchange);
  auto found = std::find_if(denied.begin(), denied.end(), [&](const DeniedCaller& each) {
    return each.type == failure.type && each.assurance == assurance && each.client == failure.client && each.by == by;
  });
  if (found == denied.end() && denied.size() == kMostDenied) {
    found = std::min_element(denied.begin(), denied.end(),
                             [](const DeniedCaller& a, const DeniedCaller& b) { return a.last < b.last; });
    *found = {};
  } else if (found == denied.end()) {
    found = denied.emplace(denied.end());
  }
  found->client = failure.client;
  found->assurance = assurance;
  found->by = std::move(by);
  found->type = failure.type;
  found->authority = failure.authority;
  ++found->count;
  found->last = failure.time;
}

FailureReport RecentFailures::report() const {
  FailureReport report;
  report.counts = counts_;
  for (const Ring& ring : rings_) report.recent.insert(report.recent.end(), ring.failures.begin(), ring.failures.end());
  for (const auto& each : denied_) report.denied.insert(report.denied.end(), each.begin(), each.end());
  return report;
}

}  // namespace sluice::exchange
