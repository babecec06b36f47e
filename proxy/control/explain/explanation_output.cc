#include "proxy/control/explain/explanation_output.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/duration.h"
#include "proxy/content/output/fact_lines.h"
#include "proxy/content/output/make_value.h"

namespace sluice::control {
namespace {

using content::addMembers;
using content::FactLines;
using content::ifAny;
using content::makeList;
using content::makeMap;
using content::makeOrNull;
using content::Value;

// --- parts of sentences

std::string hostnameInWords(const std::string& hostname) {
  return hostname.empty() ? "every hostname" : "hostname " + hostname;
}

std::string bound(base::Duration duration) {
  return duration == base::Duration::zero() ? "none" : base::formatDuration(duration);
}

std::string placeOf(const ExplainedRule& rule) {
  if (rule.route.empty()) return "the listener itself, which is not served";
  std::string text = rule.kind + " " + rule.route + ", rule " + std::to_string(rule.index);
  if (!rule.name.empty()) text += " (" + rule.name + ")";
  return text;
}

std::string answerInWords(const ExplainedAnswer& answer) {
  std::string text = std::to_string(answer.status);
  if (answer.grpcStatus) text += " with gRPC status " + std::to_string(*answer.grpcStatus);
  if (!answer.code.empty()) text += ", " + answer.code;
  text += ": " + answer.reason;
  if (!answer.location.empty()) text += ", to " + answer.location;
  return text;
}

std::string tlsInWords(const ExplainedTls& tls) {
  std::string text = tls.mode + ", SNI " + (tls.serverName.empty() ? "none" : tls.serverName);
  text += tls.verified ? ", verified for " : ", not verified";
  if (tls.verified && tls.subjectAltNames.empty()) text += tls.serverName.empty() ? "the hostname" : tls.serverName;
  for (std::size_t i = 0; tls.verified && i < tls.subjectAltNames.size(); ++i)
    text += (i == 0 ? "" : " or ") + tls.subjectAltNames[i];
  if (tls.pins > 0) text += ", " + std::to_string(tls.pins) + (tls.pins == 1 ? " pin" : " pins");
  return text;
}

/// Names a Backend with its share of the requests to those of its priority.
std::string shareInWords(const ExplainedBackend& backend, const std::vector<ExplainedBackend>& all) {
  std::uint64_t totalWeight = 0;
  for (const ExplainedBackend& each : all) totalWeight += each.priority == backend.priority ? each.weight : 0;
  return (backend.name.empty() ? "a broken reference" : backend.name) + ", weight " + std::to_string(backend.weight) +
         " of " + std::to_string(totalWeight) +
         (backend.priority ? ", priority " + std::to_string(*backend.priority) : "");
}

std::string_view decisionName(routing::EgressRuling ruling) {
  switch (ruling) {
    case routing::EgressRuling::kPassed:
      return "allowed";
    case routing::EgressRuling::kUndecided:
      return "undecided";
    case routing::EgressRuling::kDenied:
      break;
  }
  return "denied";
}

std::string deciderInWords(const ExplainedRuling& ruling) {
  return ruling.policy + (ruling.rule.empty() ? "" : ", rule " + ruling.rule);
}

std::string dependenceInWords(const ExplainedRuling& ruling) {
  if (ruling.byClient && ruling.byAddress && !ruling.byCaller) {
    return "it may depend on the client's address (--from) and its own";
  }
  std::vector<std::string_view> facts;
  if (ruling.byCaller) facts.emplace_back("the caller (--as, --principal)");
  if (ruling.byClient) facts.emplace_back("the client's address (--from)");
  if (ruling.byAddress) facts.emplace_back(facts.empty() ? "its address" : "the address of the Backend");
  std::string text = facts.size() == 1 ? "it depends on " : "it may depend on ";
  for (std::size_t i = 0; i < facts.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == facts.size() ? " and " : ", ").append(facts[i]);
  }
  return text;
}

std::string rulingInWords(const ExplainedRuling& ruling) {
  if (ruling.policy.empty()) return "allowed: no policy is enforced";
  const std::string text = std::string(decisionName(ruling.ruling)) + " by " + deciderInWords(ruling);
  return ruling.ruling == routing::EgressRuling::kUndecided ? text + ": " + dependenceInWords(ruling) : text;
}

std::string auditInWords(const ExplainedRuling& ruling) {
  if (ruling.ruling == routing::EgressRuling::kDenied) return deciderInWords(ruling) + ", would deny it";
  return deciderInWords(ruling) + " might deny it: " + dependenceInWords(ruling);
}

/// Returns "as demo/web, assurance Certificate".
std::string callerInWords(const base::Caller& caller) {
  if (caller.assurance == base::Assurance::kNone) return "without identity";
  std::string names;
  if (!caller.serviceAccount.empty()) names = caller.nameSpace + "/" + caller.serviceAccount;
  if (!caller.principal.empty()) names += (names.empty() ? "principal " : ", principal ") + caller.principal;
  return (names.empty() ? "without a name" : "as " + names) + ", assurance " +
         std::string(base::assuranceName(caller.assurance));
}

// --- parts of the output: each function writes the lines of its part, and returns its value or adds it to a map

Value ruleMap(const ExplainedRule& rule) {
  return makeMap({{"kind", rule.kind},
                  {"name", rule.route},
                  {"hostname", rule.hostname},
                  {"rule", rule.index},
                  {"ruleName", rule.name},
                  {"match", rule.match}});
}

void addAnswer(Value& map, FactLines& lines, std::string_view word, const std::optional<ExplainedAnswer>& answer) {
  if (answer) lines.add(word, answerInWords(*answer));
  const auto valueOf = [](const ExplainedAnswer& given) {
    return makeMap({{"status", given.status},
                    {"grpcStatus", given.grpcStatus},
                    {"code", given.code},
                    {"reason", given.reason},
                    {"location", ifAny(given.location)}});
  };
  addMembers(map, {{"answer", makeOrNull(answer, valueOf)}});
}

Value filterValue(FactLines& lines, const ExplainedFilter& filter) {
  const std::string of = filter.ofResponse ? "response" : "request";
  lines.add("  filter",
            of + ": " + filter.type + " of the " + filter.scope + (filter.effect.empty() ? "" : ": " + filter.effect));
  return makeMap({{"type", filter.type}, {"scope", filter.scope}, {"of", of}, {"effect", filter.effect}});
}

Value stepValue(FactLines& lines, const ExplainedStep& step) {
  lines.add("  step",
            step.phase + " (" + step.stage + "): " + step.type + " " + step.name + " of the " + step.scope +
                ", priority " + std::to_string(step.priority) + (step.preAuth ? ", preAuth" : "") +
                (step.fallback.empty() ? (step.failOpen ? ", failOpen" : "") : ", fallback " + step.fallback) +
                ", timeout " + bound(step.timeout));
  return makeMap({{"stage", step.stage},
                  {"phase", step.phase},
                  {"scope", step.scope},
                  {"name", step.name},
                  {"type", step.type},
                  {"priority", step.priority},
                  {"failOpen", step.failOpen},
                  {"fallback", step.fallback},
                  {"preAuth", step.preAuth},
                  {"timeout", base::formatDuration(step.timeout)}});
}

void addFiltersAndSteps(Value& map, FactLines& lines, const std::vector<ExplainedFilter>& filters,
                        const std::vector<ExplainedStep>& steps) {
  const auto filter = [&](const ExplainedFilter& each) { return filterValue(lines, each); };
  const auto step = [&](const ExplainedStep& each) { return stepValue(lines, each); };
  addMembers(map, {{"filters", makeList(filters, filter)}, {"processors", makeList(steps, step)}});
}

Value callerValue(const base::Caller& caller) {
  return makeMap({{"namespace", caller.nameSpace},
                  {"serviceAccount", caller.serviceAccount},
                  {"principal", caller.principal},
                  {"assurance", base::assuranceName(caller.assurance)}});
}

void addRequest(Value& map, FactLines& lines, const Explanation& explanation) {
  const std::string& client = explanation.clientAddress;
  lines.add("request", explanation.method + " " + explanation.authority + explanation.path + " (HTTP/" +
                           explanation.version + ")" + (client.empty() ? "" : " from " + client));
  if (explanation.caller) lines.add("caller", callerInWords(*explanation.caller));
  addMembers(map, {{"request", makeMap({{"method", explanation.method},
                                        {"authority", explanation.authority},
                                        {"path", explanation.path},
                                        {"version", explanation.version},
                                        {"clientAddress", client},
                                        {"caller", makeOrNull(explanation.caller, callerValue)}})}});
}

Value listenerValue(FactLines& lines, const ExplainedListener& listener) {
  const std::string protocol = listener.tls ? "HTTPS" : "HTTP";
  lines.add("listener", listener.gateway + " " + listener.name + ", " + protocol + " port " +
                            std::to_string(listener.port) + ", " + hostnameInWords(listener.hostname));
  Value map = makeMap({{"gateway", listener.gateway},
                       {"name", listener.name},
                       {"port", listener.port},
                       {"protocol", protocol},
                       {"hostname", listener.hostname}});
  if (!listener.clientCertificates.empty()) {
    const std::string& wanted = listener.clientCertificates;
    lines.add("clients", "certificate " + wanted + (wanted == "any" ? " (insecure fallback)" : ""));
    addMembers(map, {{"clientCertificates", wanted}});
  }
  if (listener.authentication.empty()) return map;
  lines.add("client", std::string(listener.authenticationRequired ? "must" : "may") +
                          " prove who it is by a name and a password, by EgressPolicy " + listener.authentication);
  addMembers(map, {{"authentication", listener.authentication}});
  return map;
}

Value routeValue(FactLines& lines, const ExplainedRule& rule, const std::vector<std::string>& matches) {
  lines.add("rule", placeOf(rule) + ", " + hostnameInWords(rule.hostname)).add("match", rule.match);
  for (const std::string& each : matches) {
    if (each != rule.match) lines.add("  or", each);
  }
  Value route = ruleMap(rule);
  addMembers(route, {{"matches", matches}});
  return route;
}

Value refusedValue(FactLines& lines, const RefusedRoute& refused) {
  lines.add("refused", refused.kind + " " + refused.route + " by Gateway " + refused.parent + ": " + refused.reason +
                           (refused.message.empty() ? "" : ": " + refused.message));
  return makeMap({{"kind", refused.kind},
                  {"name", refused.route},
                  {"parent", refused.parent},
                  {"reason", refused.reason},
                  {"message", refused.message}});
}

Value passedOverValue(FactLines& lines, const PassedOver& other) {
  const ExplainedRule& rule = other.rule;
  lines.add("passed over",
            placeOf(rule) + ", " + hostnameInWords(rule.hostname) + ", " + rule.match + ": " + other.reason);
  Value value = ruleMap(rule);
  addMembers(value, {{"reason", other.reason}});
  return value;
}

void addPlace(Value& map, FactLines& lines, const Explanation& explanation) {
  const auto listener = [&](const ExplainedListener& each) { return listenerValue(lines, each); };
  const auto route = [&](const ExplainedRule& each) { return routeValue(lines, each, explanation.matches); };
  const auto other = [&](const PassedOver& each) { return passedOverValue(lines, each); };
  if (!explanation.listener) lines.add("listener", "none");
  addMembers(map, {{"listener", makeOrNull(explanation.listener, listener)}});
  if (!explanation.rule) lines.add("rule", "none");
  addMembers(map,
             {{"route", makeOrNull(explanation.rule, route)}, {"passedOver", makeList(explanation.others, other)}});
  const auto refused = [&](const RefusedRoute& each) { return refusedValue(lines, each); };
  addMembers(map, {{"refused", makeList(explanation.refused, refused)}});
}

void addEgressLines(FactLines& lines, const ExplainedEgress& egress) {
  lines.add("  egress", rulingInWords(egress.enforced) +
                            (egress.passedOver ? "; it is passed over, and other Backends take its requests" : ""));
  for (const ExplainedRuling& each : egress.audited) lines.add("  audited", auditInWords(each));
}

/// An address that policies do not refuse needs no more words.
void addAddressLines(FactLines& lines, const ExplainedAddress& address) {
  const bool isAllowed = !address.egress || address.egress->enforced.ruling == routing::EgressRuling::kPassed;
  lines.add("  address", address.ip + " port " + std::to_string(address.port) + ", " + address.addressClass + ", " +
                             (address.zone.empty() ? "" : "zone " + address.zone + ", ") +
                             (address.permitted ? "permitted" : "prohibited: it is not dialled") +
                             (isAllowed ? "" : ", " + rulingInWords(address.egress->enforced)));
  if (!address.egress) return;
  for (const ExplainedRuling& each : address.egress->audited) lines.add("  audited", auditInWords(each));
}

void addDestinationLines(FactLines& lines, const ExplainedBackend& backend) {
  lines.add("  goes to", (backend.hostname.empty() ? "the endpoints of the Service" : backend.hostname) + ", port " +
                             std::to_string(backend.port) + ", " + backend.protocol);
  lines.add("  tls", backend.tls ? tlsInWords(*backend.tls) : "none");
  if (!backend.sendsVia) lines.add("  via", "Off: requests have Sluice-Via in place of Via");
  if (backend.unresolved) lines.add("  address", "the name was not resolved; --resolve does it");
  if (!backend.resolutionFailure.empty()) lines.add("  address", "none: " + backend.resolutionFailure);
  for (const ExplainedAddress& each : backend.addresses) addAddressLines(lines, each);
  if (backend.egress) addEgressLines(lines, *backend.egress);
}

Value rulingValue(const ExplainedRuling& ruling) {
  std::vector<std::string> dependsOn;
  if (ruling.byCaller) dependsOn.emplace_back("caller");
  if (ruling.byClient) dependsOn.emplace_back("clientAddress");
  if (ruling.byAddress) dependsOn.emplace_back("address");
  return makeMap({{"decision", decisionName(ruling.ruling)},
                  {"policy", ruling.policy},
                  {"rule", ruling.rule},
                  {"dependsOn", dependsOn}});
}

Value egressValue(const ExplainedEgress& egress) {
  Value map = rulingValue(egress.enforced);
  addMembers(map, {{"passedOver", egress.passedOver}, {"audited", makeList(egress.audited, rulingValue)}});
  return map;
}

Value tlsValue(const ExplainedTls& tls) {
  return makeMap({{"mode", tls.mode},
                  {"sni", tls.serverName},
                  {"verified", tls.verified},
                  {"subjectAltNames", tls.subjectAltNames},
                  {"pins", tls.pins}});
}

Value addressValue(const ExplainedAddress& address) {
  return makeMap({{"ip", address.ip},
                  {"port", address.port},
                  {"class", address.addressClass},
                  {"zone", ifAny(address.zone)},
                  {"permitted", address.permitted},
                  {"egress", makeOrNull(address.egress, egressValue)}});
}

Value healthValue(FactLines& lines, const ExplainedHealth& health) {
  const bool isUnknown = health.state == "unknown";
  lines.add("  health", health.state + (isUnknown                ? ": no request and no health check has succeeded yet"
                                        : health.message.empty() ? ""
                                                                 : ": " + health.message));
  return makeMap({{"state", health.state}, {"message", ifAny(health.message)}});
}

Value backendValue(FactLines& lines, const ExplainedBackend& backend, const std::vector<ExplainedBackend>& all) {
  lines.add("backend", shareInWords(backend, all));
  if (!backend.name.empty()) addDestinationLines(lines, backend);
  Value map = makeMap({{"name", backend.name},
                       {"weight", backend.weight},
                       {"priority", backend.priority},
                       {"hostname", backend.hostname},
                       {"port", backend.port},
                       {"protocol", backend.protocol},
                       {"tls", makeOrNull(backend.tls, tlsValue)},
                       {"via", ifAny(backend.sendsVia ? "" : "Off")},
                       {"addresses", makeList(backend.addresses, addressValue)},
                       {"resolved", !backend.unresolved},
                       {"resolutionFailure", ifAny(backend.resolutionFailure)},
                       {"egress", makeOrNull(backend.egress, egressValue)}});
  const auto health = [&](const ExplainedHealth& each) { return healthValue(lines, each); };
  addMembers(map, {{"health", makeOrNull(backend.health, health)}});
  addAnswer(map, lines, "  answer", backend.answer);
  addFiltersAndSteps(map, lines, backend.filters, backend.steps);
  return map;
}

void addBackends(Value& map, FactLines& lines, const std::vector<ExplainedBackend>& backends) {
  const auto backend = [&](const ExplainedBackend& each) { return backendValue(lines, each, backends); };
  addMembers(map, {{"backends", makeList(backends, backend)}});
}

Value timeoutsValue(FactLines& lines, const ExplainedTimeouts& timeouts) {
  lines.add("timeouts", "request " + bound(timeouts.request) + ", backendRequest " + bound(timeouts.backendRequest) +
                            ", connect " + bound(timeouts.connect));
  return makeMap({{"request", base::formatDuration(timeouts.request)},
                  {"backendRequest", base::formatDuration(timeouts.backendRequest)},
                  {"connect", base::formatDuration(timeouts.connect)}});
}

Value retryValue(FactLines& lines, const ExplainedRetry& retry) {
  const std::string backoff = base::formatDuration(retry.backoff);
  std::string attempts = std::to_string(retry.attempts) + " at most";
  for (std::size_t i = 0; i < retry.codes.size(); ++i)
    attempts += (i == 0 ? ", again after " : ", ") + std::to_string(retry.codes[i]);
  if (retry.attempts > 1) attempts += ", backoff " + backoff;
  lines.add("attempts", attempts);
  return makeMap({{"attempts", retry.attempts}, {"codes", retry.codes}, {"backoff", backoff}});
}

void addBounds(Value& map, FactLines& lines, const Explanation& explanation) {
  addMembers(map, {{"timeouts", timeoutsValue(lines, explanation.timeouts)},
                   {"retry", retryValue(lines, explanation.retry)},
                   {"session", explanation.session}});
  if (!explanation.session.empty()) lines.add("session", explanation.session);
}

}  // namespace

content::Output explanationOutput(const Explanation& explanation) {
  constexpr std::size_t kColumn = 12;
  FactLines lines(kColumn);
  FactLines ofBackends(kColumn);  // people read about Backends after the gateway's own answer, programs before it
  FactLines notes(kColumn);
  Value map = makeMap({});
  addRequest(map, lines, explanation);
  addPlace(map, lines, explanation);
  addBackends(map, ofBackends, explanation.backends);
  addBounds(map, ofBackends, explanation);
  addAnswer(map, lines, "answer", explanation.answer);
  addFiltersAndSteps(map, lines, explanation.filters, explanation.steps);
  addMembers(map, {{"notes", explanation.notes}});
  for (const std::string& each : explanation.notes) notes.add("note", each);
  return {std::move(map), lines.take() + (explanation.backends.empty() ? "" : ofBackends.take()) + notes.take()};
}

}  // namespace sluice::control
