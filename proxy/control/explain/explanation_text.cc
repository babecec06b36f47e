#include "proxy/control/explain/explanation_text.h"

#include "proxy/base/duration.h"

namespace sluice::control {
namespace {

/// Collects lines whose labels are aligned in one column.
class FactWriter {
 public:
  void line(std::string_view word, const std::string& fact) {
    constexpr std::size_t kColumn = 12;
    text_ += word;
    text_.append(word.size() < kColumn ? kColumn - word.size() : 1, ' ');
    text_ += fact + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

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

void writeCourse(FactWriter& out, const std::vector<ExplainedFilter>& filters,
                 const std::vector<ExplainedStep>& steps) {
  for (const ExplainedFilter& each : filters) {
    out.line("  filter", std::string(each.ofResponse ? "response: " : "request: ") + each.type + " of the " +
                             each.scope + (each.effect.empty() ? "" : ": " + each.effect));
  }
  for (const ExplainedStep& each : steps) {
    out.line("  step", each.phase + " (" + each.stage + "): " + each.type + " " + each.name + " of the " + each.scope +
                           ", priority " + std::to_string(each.priority) + (each.preAuth ? ", preAuth" : "") +
                           (each.failOpen ? ", failOpen" : "") + ", timeout " + bound(each.timeout));
  }
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

void writeDestination(FactWriter& out, const ExplainedBackend& backend) {
  if (backend.name.empty()) return;
  out.line("  goes to", (backend.hostname.empty() ? "the endpoints of the Service" : backend.hostname) + ", port " +
                            std::to_string(backend.port) + ", " + backend.protocol);
  out.line("  tls", backend.tls ? tlsInWords(*backend.tls) : "none");
  if (backend.unresolved) out.line("  address", "the name was not resolved; --resolve does it");
  if (!backend.resolutionFailure.empty()) out.line("  address", "none: " + backend.resolutionFailure);
  for (const ExplainedAddress& each : backend.addresses) {
    out.line("  address", each.ip + " port " + std::to_string(each.port) + ", " + each.addressClass + ", " +
                              (each.permitted ? "permitted" : "prohibited: it is not dialled"));
  }
}

/// Writes a Backend with its share of the requests to those of its priority.
void writeBackendText(FactWriter& out, const ExplainedBackend& backend, const std::vector<ExplainedBackend>& all) {
  std::uint64_t totalWeight = 0;
  for (const ExplainedBackend& each : all) totalWeight += each.priority == backend.priority ? each.weight : 0;
  out.line("backend", (backend.name.empty() ? "a broken reference" : backend.name) + ", weight " +
                          std::to_string(backend.weight) + " of " + std::to_string(totalWeight) +
                          (backend.priority ? ", priority " + std::to_string(*backend.priority) : ""));
  writeDestination(out, backend);
  if (backend.answer) out.line("  answer", answerInWords(*backend.answer));
  writeCourse(out, backend.filters, backend.steps);
}

void writeRoute(FactWriter& out, const Explanation& explanation) {
  if (const auto& listener = explanation.listener) {
    out.line("listener", listener->gateway + " " + listener->name + ", " + (listener->tls ? "HTTPS" : "HTTP") +
                             " port " + std::to_string(listener->port) + ", " + hostnameInWords(listener->hostname));
  } else {
    out.line("listener", "none");
  }
  if (const auto& rule = explanation.rule) {
    out.line("rule", placeOf(*rule) + ", " + hostnameInWords(rule->hostname));
    out.line("match", rule->match);
    for (const std::string& each : explanation.matches) {
      if (each != rule->match) out.line("  or", each);
    }
  } else {
    out.line("rule", "none");
  }
  for (const PassedOver& each : explanation.others) {
    out.line("passed over", placeOf(each.rule) + ", " + hostnameInWords(each.rule.hostname) + ", " + each.rule.match +
                                ": " + each.reason);
  }
}

void writeBounds(FactWriter& out, const Explanation& explanation) {
  const ExplainedTimeouts& timeouts = explanation.timeouts;
  out.line("timeouts", "request " + bound(timeouts.request) + ", backendRequest " + bound(timeouts.backendRequest) +
                           ", connect " + bound(timeouts.connect));
  const ExplainedRetry& retry = explanation.retry;
  std::string attempts = std::to_string(retry.attempts) + " at most";
  for (std::size_t i = 0; i < retry.codes.size(); ++i)
    attempts += (i == 0 ? ", again after " : ", ") + std::to_string(retry.codes[i]);
  if (retry.attempts > 1) attempts += ", backoff " + base::formatDuration(retry.backoff);
  out.line("attempts", attempts);
  if (!explanation.session.empty()) out.line("session", explanation.session);
}

}  // namespace

std::string explanationText(const Explanation& explanation) {
  FactWriter out;
  out.line("request", explanation.method + " " + explanation.authority + explanation.path + " (HTTP/" +
                          explanation.version + ")" +
                          (explanation.clientAddress.empty() ? "" : " from " + explanation.clientAddress));
  writeRoute(out, explanation);
  if (explanation.answer) out.line("answer", answerInWords(*explanation.answer));
  writeCourse(out, explanation.filters, explanation.steps);
  for (const ExplainedBackend& each : explanation.backends) writeBackendText(out, each, explanation.backends);
  if (!explanation.backends.empty()) writeBounds(out, explanation);
  for (const std::string& each : explanation.notes) out.line("note", each);
  return out.take();
}

}  // namespace sluice::control
