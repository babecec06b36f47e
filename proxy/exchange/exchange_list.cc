#include "proxy/exchange/exchange_list.h"

#include <algorithm>
#include <array>

#include "proxy/base/json_text.h"
#include "proxy/base/json_writer.h"
#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/reply/exchange_names.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kMaxTextBytes = 256;
constexpr std::size_t kMaxPathBytes = 512;

void text(base::JsonWriter& json, std::string_view key, std::string_view value, std::size_t maxBytes = kMaxTextBytes) {
  std::string quoted;
  if (value.empty()) {
    quoted = "null";
  } else {
    base::appendJsonString(quoted, value, maxBytes);
  }
  json.key(key).json(quoted);
}

void number(base::JsonWriter& json, std::string_view key, std::uint64_t value) {
  json.key(key).json(std::to_string(value));
}

void seconds(base::JsonWriter& json, std::string_view key, base::Duration value) {
  std::array<char, 24> digits;
  // A thousandth of the time in milliseconds is the whole time in seconds.
  const char* end = base::writeJsonMilliseconds(digits.data(), value / 1000);
  json.key(key).json({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// Shows the decision of the policies as far as it has been made, as the access log will.
void decision(base::JsonWriter& json, const EgressState* egress) {
  const bool isMade = egress != nullptr && egress->policy != nullptr;
  text(json, "policy", isMade ? std::string_view(egress->policy->name()) : std::string_view());
  text(json, "rule", isMade ? egress->policy->ruleName(egress->rule) : std::string_view());
  text(json, "decision", isMade ? egressDecisionName(egress->decision) : std::string_view());
}

/// Shows who makes the request, as far as that is known.
void caller(base::JsonWriter& json, const base::Caller* known) {
  text(json, "namespace", known != nullptr ? std::string_view(known->nameSpace) : std::string_view());
  text(json, "serviceAccount", known != nullptr ? std::string_view(known->serviceAccount) : std::string_view());
  text(json, "principal", known != nullptr ? std::string_view(known->principal) : std::string_view());
  text(json, "assurance", base::assuranceName(known != nullptr ? known->assurance : base::Assurance::kNone));
}

std::string render(Exchanges& exchanges, const Exchange& exchange, std::size_t worker) {
  const Transaction& transaction = exchange.transaction();
  const http::RequestHead& request = transaction.request.head;
  const Attempt& attempt = exchange.attempt();
  const ExchangeNames names = namesOf(exchange);
  base::JsonWriter json;
  json.beginObject();
  number(json, "worker", worker);
  text(json, "id", std::to_string(transaction.token()));  // as text, because not every reader has integers of 64 bits
  text(json, "method", request.methodText);
  text(json, "authority", request.authority);
  text(json, "path", request.path(), kMaxPathBytes);
  text(json, "protocolVersion", http::versionName(request.version));
  text(json, "clientAddress", transaction.client.address.toString());
  caller(json, transaction.caller.get());
  text(json, "requestState", requestStateName(transaction.requestState));
  text(json, "responseState", responseStateName(transaction.responseState));
  const ExchangeWait wait = exchange.wait();
  text(json, "waitingFor", waitName(wait.what));
  text(json, "waitingAt", wait.where);
  const processing::Step* step = exchange.suspendedStep();
  text(json, "step", step != nullptr ? std::string_view(step->name) : std::string_view());
  text(json, "phase", step != nullptr ? processing::phaseName(step->phase) : std::string_view());
  text(json, "gateway", names.gateway);
  text(json, "listener", names.listener);
  text(json, "route", names.route);
  text(json, "backend", names.backend);
  decision(json, transaction.egress);
  text(json, "upstreamAddress", attempt.peer());
  number(json, "attempts", attempt.number);
  seconds(json, "ageSeconds", exchanges.worker().now() - transaction.started);
  number(json, "requestBytes", transaction.requestBytes);
  number(json, "responseBytes", transaction.responseBytes);
  json.endObject();
  return json.take();
}

}  // namespace

ExchangeList listExchanges(Exchanges& exchanges, std::size_t worker, std::size_t most) {
  std::vector<const Exchange*> chosen;
  chosen.reserve(exchanges.size());
  exchanges.forEach([&chosen](const Exchange& exchange) { chosen.push_back(&exchange); });
  ExchangeList list;
  list.total = chosen.size();
  const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(std::min(most, chosen.size()));
  std::partial_sort(chosen.begin(), end, chosen.end(), [](const Exchange* a, const Exchange* b) {
    return a->transaction().started < b->transaction().started;
  });
  list.oldest.reserve(static_cast<std::size_t>(end - chosen.begin()));
  for (auto at = chosen.begin(); at != end; ++at)
    list.oldest.push_back({(*at)->transaction().started, render(exchanges, **at, worker)});
  return list;
}

}  // namespace sluice::exchange
