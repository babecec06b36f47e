#include "filters/ext_proc/settings.h"

#include <charconv>
#include <string>
#include <utility>

#include "proxy/base/duration.h"
#include "proxy/base/grpc_status.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::filters::ext_proc {

const std::string_view kExtProcSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "ExtProc",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "backendRefs": {
      "type": "array",
      "minItems": 1,
      "maxItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": {
          "group": {"type": "string"},
          "kind": {"type": "string", "minLength": 1, "default": "Service"},
          "namespace": {"type": "string", "minLength": 1},
          "name": {"type": "string", "minLength": 1},
          "port": {"type": "integer", "minimum": 1, "maximum": 65535}
        }
      }
    },
    "processingMode": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "requestHeaders": {"enum": ["Send", "Skip"], "default": "Send"},
        "requestBody": {"enum": ["Skip", "Streamed", "Buffered", "BufferedPartial", "FullDuplexStreamed"], "default": "Skip"},
        "requestTrailers": {"enum": ["Send", "Skip"], "default": "Skip"},
        "responseHeaders": {"enum": ["Send", "Skip"], "default": "Send"},
        "responseBody": {"enum": ["Skip", "Streamed", "Buffered", "BufferedPartial", "FullDuplexStreamed"], "default": "Skip"},
        "responseTrailers": {"enum": ["Send", "Skip"], "default": "Skip"}
      }
    },
    "allowModeOverride": {"type": "boolean", "default": false},
    "observabilityMode": {"type": "boolean", "default": false},
    "protocol": {"enum": ["ExternalProcessor", "PayloadProcessor"], "default": "ExternalProcessor"},
    "statusOnError": {"type": "integer", "minimum": 400, "maximum": 599},
    "maxMessageTimeout": {"type": "string", "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"},
    "maxMessageSize": {"type": "integer", "minimum": 1024, "maximum": 67108864},
    "requestAttributes": {"type": "array", "maxItems": 32, "items": {"type": "string", "minLength": 1, "maxLength": 256}},
    "responseAttributes": {"type": "array", "maxItems": 32, "items": {"type": "string", "minLength": 1, "maxLength": 256}},
    "context": {"type": "object"},
    "service": {"type": "object"}
  }
})";

namespace {

base::Error wrong(std::string field, std::string why) {
  return base::Error::config(std::move(field) + ": " + std::move(why));
}

std::string_view memberText(const content::Value* map, std::string_view key, std::string_view otherwise) {
  const content::Value* found = map == nullptr ? nullptr : map->find(key);
  return found == nullptr ? otherwise : std::string_view(found->text);
}

BodyForm bodyForm(std::string_view name) {
  if (name == "Streamed") return BodyForm::kStreamed;
  if (name == "Buffered") return BodyForm::kBuffered;
  if (name == "FullDuplexStreamed") return BodyForm::kFullDuplex;
  return name == "BufferedPartial" ? BodyForm::kBufferedPartial : BodyForm::kSkipped;
}

WayModes readWay(const content::Value* modes, const std::string& way) {
  return {memberText(modes, way + "Headers", "Send") == "Send", bodyForm(memberText(modes, way + "Body", "Skip")),
          memberText(modes, way + "Trailers", "Skip") == "Send"};
}

std::size_t numberIn(const content::Value& config, std::string_view key, std::size_t otherwise) {
  const std::string_view text = memberText(&config, key, "");
  std::size_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns the fault of the modes for this protocol, or for a server that only observes; empty if there is none.
base::Status checkModes(const ExtProcSettings& settings) {
  for (const Way way : {Way::kRequest, Way::kResponse}) {
    const WayModes& modes = settings.modes.of(way);
    const std::string field = std::string("processingMode.") + (way == Way::kRequest ? "request" : "response");
    const bool isPlain = modes.body == BodyForm::kSkipped || modes.body == BodyForm::kStreamed;
    if (settings.observes && !isPlain) return wrong(field + "Body", "must be Skip or Streamed in observabilityMode");
    if (!settings.isTurnByTurn) continue;
    if (!isPlain) return wrong(field + "Body", "must be Skip or Streamed for a PayloadProcessor");
    if (modes.trailers) return wrong(field + "Trailers", "must be Skip for a PayloadProcessor");
  }
  if (settings.observes && settings.isTurnByTurn) return wrong("observabilityMode", "is not for a PayloadProcessor");
  return base::Done{};
}

base::Status readAttributes(const content::Value& config, const processing::WorkBounds& bounds,
                            ExtProcSettings& settings) {
  auto request = Attributes::read(config.find("requestAttributes"), MessageSide::kRequest, bounds);
  if (!request) return base::Error::config("requestAttributes" + request.error().detail);
  auto response = Attributes::read(config.find("responseAttributes"), MessageSide::kResponse, bounds);
  if (!response) return base::Error::config("responseAttributes" + response.error().detail);
  settings.requestAttributes = std::move(request).value();
  settings.responseAttributes = std::move(response).value();
  return base::Done{};
}

/// `context` is null if there is none. The error names no field.
base::Status readContext(const content::Value* context, std::uint64_t most, ExtProcSettings& settings) {
  if (context == nullptr) return base::Done{};
  settings.context = settings.protocol->writeContext(*context);
  const std::size_t size = settings.context.size();
  if (size <= most) return base::Done{};
  return base::Error::config("takes " + std::to_string(size) + " bytes in the first message for each request, and " +
                             std::to_string(most) + " are allowed (limits.processorContext)");
}

/// Reads the `retry` of a server that the settings of the process name, which have checked it.
processing::CalloutRetry readCalloutRetry(const content::Value& retry) {
  processing::CalloutRetry result;
  result.attempts = static_cast<std::uint32_t>(numberIn(retry, "maxAttempts", 1));
  result.firstPause = base::parseDuration(memberText(&retry, "initialBackoff", "")).value_or(base::Duration());
  result.longestPause = base::parseDuration(memberText(&retry, "maxBackoff", "")).value_or(result.firstPause);
  const std::string_view multiplier = memberText(&retry, "backoffMultiplier", "1");
  std::from_chars(multiplier.data(), multiplier.data() + multiplier.size(), result.multiplier);
  if (const content::Value* names = retry.find("retryableStatusCodes")) {
    for (const content::Value& name : names->items) {
      result.statuses |= 1U << base::grpcStatusNamed(name.text).value_or(0);
    }
  }
  return result;
}

/// Returns the settings of a catalog's entry, checked by the same schema. The catalog's own reader does not check them.
base::Result<content::Value> checkedEngine(const content::Value* engine) {
  content::Value settings;
  settings.kind = content::Value::Kind::kMap;
  if (engine != nullptr) settings = *engine;
  static const base::Result<content::JsonSchema> schema = content::JsonSchema::compile(kExtProcSchema);
  if (!schema) return schema.error();
  const auto violations = schema->apply(settings);
  if (!violations.empty()) return wrong("the catalog's extProc", content::describe(violations));
  return settings;
}

}  // namespace

base::Result<ExtProcSettings> readSettings(const processing::Use& use) {
  content::Value own;
  const bool isOfCatalog = use.engine != nullptr;
  if (isOfCatalog) {
    auto checked = checkedEngine(use.engine);
    if (!checked) return std::move(checked).error();
    own = *std::move(checked);
  }
  const content::Value& config = isOfCatalog ? own : use.config;
  const content::Value* refs = config.find("backendRefs");
  const content::Value* service = config.find("service");
  if (refs == nullptr && service == nullptr) return wrong("backendRefs", "is required");
  if (refs != nullptr && service != nullptr) return wrong("service", "must not stand beside backendRefs");
  ExtProcSettings settings;
  settings.server = service != nullptr ? *service : refs->items.front();
  const content::Value* retry = service != nullptr ? service->find("retry") : nullptr;
  if (retry != nullptr && retry->kind == content::Value::Kind::kMap) settings.retry = readCalloutRetry(*retry);
  const content::Value* modes = config.find("processingMode");
  settings.modes = {readWay(modes, "request"), readWay(modes, "response")};
  settings.isTurnByTurn = memberText(&config, "protocol", "") == "PayloadProcessor";
  if (settings.isTurnByTurn) settings.protocol = &payloadProcessor();
  settings.observes = memberText(&config, "observabilityMode", "") == "true";
  const bool isHeard = !settings.isTurnByTurn && !settings.observes;
  settings.allowsOverride = isHeard && memberText(&config, "allowModeOverride", "") == "true";
  settings.possiblePhases = use.phases;
  settings.statusOnError = static_cast<std::uint16_t>(numberIn(config, "statusOnError", 0));
  settings.mostPatience = base::parseDuration(memberText(&config, "maxMessageTimeout", "")).value_or(base::Duration());
  settings.mostMessage = numberIn(config, "maxMessageSize", settings.mostMessage);
  if (auto status = checkModes(settings); !status) return std::move(status).error();
  if (auto status = readAttributes(config, use.work, settings); !status) return std::move(status).error();
  if (auto status = readContext(isOfCatalog ? &use.config : config.find("context"), use.mostContext, settings);
      !status) {
    const std::string& fault = status.error().detail;
    return base::Error::config(isOfCatalog ? fault : "context: " + fault);
  }
  return {std::move(settings)};
}

}  // namespace sluice::filters::ext_proc
