#include "filters/header_modifier.h"

#include <utility>

#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

using processing::Phase;

constexpr std::string_view kHeaderModifierSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "HeaderModifier",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "set": {"type": "array", "items": {"$ref": "#/$defs/field"}},
    "add": {"type": "array", "items": {"$ref": "#/$defs/field"}},
    "remove": {"type": "array", "items": {"type": "string", "minLength": 1}}
  },
  "$defs": {
    "field": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"name": {"type": "string", "minLength": 1}, "value": {"type": "string"}},
      "required": ["name", "value"]
    }
  }
})";

class HeaderModifier final : public processing::PreAuthProcessor {
 public:
  explicit HeaderModifier(processing::FieldEdits edits) : edits_(std::move(edits)) {}

  processing::Verdict process(processing::Call& call) const override {
    if (call.response != nullptr) {
      edits_.apply(call.arena, call.response->headers);
    } else {
      edits_.apply(call.edit);
    }
    return processing::Verdict::goOn();
  }
  void withhold(http::Headers& fields) const override { edits_.withhold(fields); }

 private:
  const processing::FieldEdits edits_;
};

processing::Made makeHeaderModifier(const processing::Use& use) {
  auto edits = processing::FieldEdits::read(use.config);
  if (!edits) return {nullptr, {"InvalidConfig", edits.error().detail}};
  return {std::make_shared<const HeaderModifier>(std::move(edits).value()), {}};
}

}  // namespace

processing::BuiltinType headerModifier() {
  return {"sluice.dev/HeaderModifier:v1",
          {Phase::kRequestHeaders, Phase::kBackendRequest, Phase::kBackendResponse, Phase::kResponseHeaders},
          true,
          kHeaderModifierSchema,
          makeHeaderModifier};
}

}  // namespace sluice::filters
