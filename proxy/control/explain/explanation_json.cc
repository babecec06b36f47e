#include "proxy/control/explain/explanation_json.h"

#include "proxy/base/duration.h"
#include "proxy/base/json_writer.h"

namespace sluice::control {
namespace {

using base::JsonWriter;

std::string_view jsonOf(bool value) { return value ? "true" : "false"; }

template <typename Items, typename Write>
void writeList(JsonWriter& json, const char* name, const Items& items, Write&& write) {
  json.key(name).beginList();
  for (const auto& each : items) write(each);
  json.endList();
}

void writeTexts(JsonWriter& json, const char* name, const std::vector<std::string>& texts) {
  writeList(json, name, texts, [&](const std::string& each) { json.text(each); });
}

void writeRule(JsonWriter& json, const ExplainedRule& rule) {
  json.member("kind", rule.kind).member("name", rule.route).member("hostname", rule.hostname);
  json.member("rule", rule.index).member("ruleName", rule.name).member("match", rule.match);
}

void writeAnswer(JsonWriter& json, const std::optional<ExplainedAnswer>& answer) {
  json.key("answer");
  if (!answer) {
    json.json("null");
    return;
  }
  json.beginObject().member("status", answer->status);
  if (answer->grpcStatus) json.member("grpcStatus", *answer->grpcStatus);
  json.member("code", answer->code).member("reason", answer->reason);
  if (!answer->location.empty()) json.member("location", answer->location);
  json.endObject();
}

void writeFilters(JsonWriter& json, const std::vector<ExplainedFilter>& filters) {
  writeList(json, "filters", filters, [&](const ExplainedFilter& each) {
    json.beginObject().member("type", each.type).member("scope", each.scope);
    json.member("of", each.ofResponse ? "response" : "request").member("effect", each.effect).endObject();
  });
}

void writeSteps(JsonWriter& json, const std::vector<ExplainedStep>& steps) {
  writeList(json, "processors", steps, [&](const ExplainedStep& each) {
    json.beginObject().member("stage", each.stage).member("phase", each.phase).member("scope", each.scope);
    json.member("name", each.name).member("type", each.type).member("priority", each.priority);
    json.key("failOpen").json(jsonOf(each.failOpen)).key("preAuth").json(jsonOf(each.preAuth));
    json.member("timeout", base::formatDuration(each.timeout)).endObject();
  });
}

void writeTls(JsonWriter& json, const std::optional<ExplainedTls>& tls) {
  json.key("tls");
  if (!tls) {
    json.json("null");
    return;
  }
  json.beginObject().member("mode", tls->mode).member("sni", tls->serverName);
  json.key("verified").json(jsonOf(tls->verified));
  writeTexts(json, "subjectAltNames", tls->subjectAltNames);
  json.member("pins", static_cast<std::int64_t>(tls->pins)).endObject();
}

void writeBackend(JsonWriter& json, const ExplainedBackend& backend) {
  json.beginObject().member("name", backend.name).member("weight", backend.weight);
  if (backend.priority) json.member("priority", *backend.priority);
  json.member("hostname", backend.hostname).member("port", backend.port).member("protocol", backend.protocol);
  writeTls(json, backend.tls);
  writeList(json, "addresses", backend.addresses, [&](const ExplainedAddress& each) {
    json.beginObject().member("ip", each.ip).member("port", each.port).member("class", each.addressClass);
    json.key("permitted").json(jsonOf(each.permitted)).endObject();
  });
  json.key("resolved").json(jsonOf(!backend.unresolved));
  if (!backend.resolutionFailure.empty()) json.member("resolutionFailure", backend.resolutionFailure);
  writeAnswer(json, backend.answer);
  writeFilters(json, backend.filters);
  writeSteps(json, backend.steps);
  json.endObject();
}

void writeRequest(JsonWriter& json, const Explanation& explanation) {
  json.key("request").beginObject();
  json.member("method", explanation.method).member("authority", explanation.authority);
  json.member("path", explanation.path).member("version", explanation.version);
  json.member("clientAddress", explanation.clientAddress).endObject();
}

void writePlace(JsonWriter& json, const Explanation& explanation) {
  json.key("listener");
  if (const auto& listener = explanation.listener) {
    json.beginObject().member("gateway", listener->gateway).member("name", listener->name);
    json.member("port", listener->port).member("protocol", listener->tls ? "HTTPS" : "HTTP");
    json.member("hostname", listener->hostname).endObject();
  } else {
    json.json("null");
  }
  json.key("route");
  if (explanation.rule) {
    json.beginObject();
    writeRule(json, *explanation.rule);
    writeTexts(json, "matches", explanation.matches);
    json.endObject();
  } else {
    json.json("null");
  }
  writeList(json, "passedOver", explanation.others, [&](const PassedOver& each) {
    json.beginObject();
    writeRule(json, each.rule);
    json.member("reason", each.reason).endObject();
  });
}

void writeBoundsJson(JsonWriter& json, const Explanation& explanation) {
  const ExplainedTimeouts& timeouts = explanation.timeouts;
  json.key("timeouts").beginObject().member("request", base::formatDuration(timeouts.request));
  json.member("backendRequest", base::formatDuration(timeouts.backendRequest));
  json.member("connect", base::formatDuration(timeouts.connect)).endObject();
  const ExplainedRetry& retry = explanation.retry;
  json.key("retry").beginObject().member("attempts", retry.attempts);
  writeList(json, "codes", retry.codes, [&](std::uint16_t code) { json.number(code); });
  json.member("backoff", base::formatDuration(retry.backoff)).endObject();
}

}  // namespace

std::string explanationJson(const Explanation& explanation) {
  JsonWriter json;
  json.beginObject();
  writeRequest(json, explanation);
  writePlace(json, explanation);
  writeList(json, "backends", explanation.backends, [&](const ExplainedBackend& each) { writeBackend(json, each); });
  writeBoundsJson(json, explanation);
  json.member("session", explanation.session);
  writeAnswer(json, explanation.answer);
  writeFilters(json, explanation.filters);
  writeSteps(json, explanation.steps);
  writeTexts(json, "notes", explanation.notes);
  json.endObject();
  return json.take();
}

}  // namespace sluice::control
