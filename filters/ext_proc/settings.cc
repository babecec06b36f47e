#include "filters/ext_proc/settings.h"

#include <string>
#include <utility>

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
        "requestBody": {"enum": ["Skip", "Streamed", "Buffered", "BufferedPartial"], "default": "Skip"},
        "responseHeaders": {"enum": ["Send", "Skip"], "default": "Send"},
        "responseBody": {"enum": ["Skip", "Streamed", "Buffered", "BufferedPartial"], "default": "Skip"}
      }
    },
    "allowModeOverride": {"type": "boolean", "default": false},
    "context": {"type": "object"},
    "service": {"type": "object"},
    "maxMessageSize": {}
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
  return name == "BufferedPartial" ? BodyForm::kBufferedPartial : BodyForm::kSkipped;
}

ProcessingModes readModes(const content::Value* modes) {
  return {memberText(modes, "requestHeaders", "Send") == "Send", bodyForm(memberText(modes, "requestBody", "Skip")),
          memberText(modes, "responseHeaders", "Send") == "Send", bodyForm(memberText(modes, "responseBody", "Skip"))};
}

/// Returns the settings of a catalog's entry, checked by the same schema. The catalog's own reader has not looked at
/// them.
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
  settings.modes = readModes(config.find("processingMode"));
  settings.allowsOverride = memberText(&config, "allowModeOverride", "") == "true";
  if (const content::Value* context = isOfCatalog ? &use.config : config.find("context")) settings.context = *context;
  return settings;
}

}  // namespace sluice::filters::ext_proc
