#include "filters/in_process.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filters/message_edits.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;

constexpr std::string_view kInProcessSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "InProcess",
  "type": "object",
  "additionalProperties": false,
  "properties": {"request": {"$ref": "#/$defs/edits"}, "response": {"$ref": "#/$defs/edits"}},
  "$defs": {
    "edits": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "setHeaders": {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/edit"}},
        "addHeaders": {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/edit"}},
        "removeHeaders": {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/name"}},
        "setBodyFields": {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/edit"}},
        "removeBodyFields": {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/name"}}
      }
    },
    "edit": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"name": {"type": "string", "minLength": 1}, "value": {"type": "string"}},
      "required": ["name", "value"]
    },
    "name": {
      "anyOf": [
        {"type": "string", "minLength": 1},
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {"name": {"type": "string", "minLength": 1}},
          "required": ["name"]
        }
      ]
    }
  }
})";

class InProcess final : public processing::Processor {
 public:
  InProcess(MessageEdits request, MessageEdits response)
      : request_(std::move(request)), response_(std::move(response)) {
    if (!request_.isEmpty()) phases_.push_back(request_.needsBody() ? Phase::kRequestBody : Phase::kRequestHeaders);
    if (!response_.isEmpty()) phases_.push_back(response_.needsBody() ? Phase::kResponseBody : Phase::kResponseHeaders);
  }

  std::span<const Phase> phases() const override { return phases_; }
  processing::BodyInterest body(Phase phase) const override {
    const MessageEdits& edits = of(phase);
    if (!edits.needsBody()) return {};
    return {.mode = processing::BodyMode::kBuffered, .edits = edits.editsBody(), .decoded = true};
  }

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    const MessageEdits& edits = of(call.phase);
    if (edits.needsBody() && !processing::hasBody(call.phase)) {
      return Verdict::fail("the expressions need the body, which the phase of the use does not have");
    }
    std::string copied;
    std::string_view text;
    if (call.body != nullptr && !gather(*call.body, edits.editsBody(), copied, text)) {
      return Verdict::fail("there is no room for the body", processing::Cause::kNoRoom, "processorBufferTotal");
    }
    BodyDocument document(text, edits.reads(), call.arena);
    MessageChanges changes;
    const ExpressionInput input{call.request, peer, call.response, edits.needsBody() ? &document : nullptr};
    if (auto failed = edits.prepare(input, call.arena, changes)) return *std::move(failed);
    change(call, edits, changes);
    if (changes.body && call.body != nullptr) call.body->replacement().append(*changes.body);
    return Verdict::goOn();
  }

  void withhold(http::Headers& fields) const override {
    response_.eachOldField([&](std::string_view name) { fields.removeTwins(name); });
  }

 private:
  const MessageEdits& of(Phase phase) const { return processing::isOfRequest(phase) ? request_ : response_; }

  /// Returns the body in one piece, which is copied unless it is in one already. Fails if there is no room for that and
  /// for an edited copy.
  static bool gather(processing::Body& body, bool edits, std::string& copied, std::string_view& text) {
    const base::ByteQueue& bytes = body.bytes();
    const bool isWhole = bytes.front().size() == bytes.size();
    if (!body.claim((isWhole ? 0 : bytes.size()) + (edits ? bytes.size() : 0))) return false;
    if (isWhole) {
      text = bytes.front();
      return true;
    }
    copied.reserve(bytes.size());
    bytes.forEachRun([&](std::string_view run) { copied += run; });
    text = copied;
    return true;
  }

  static void change(processing::Call& call, const MessageEdits& edits, const MessageChanges& changes) {
    if (call.response != nullptr) {
      http::Headers& headers = call.response->headers;
      edits.eachOldField([&](std::string_view name) { headers.removeTwins(name); });
      for (const auto& [name, value] : changes.fields) headers.add(call.arena, name, value);
      return;
    }
    edits.eachOldField([&](std::string_view name) { call.edit.removeTwins(name); });
    for (const auto& [name, value] : changes.fields) call.edit.add(name, value);
  }

  const MessageEdits request_;
  const MessageEdits response_;
  std::vector<Phase> phases_;
};

base::Result<MessageEdits> readSide(const processing::Use& use, std::string_view member, MessageSide side) {
  const content::Value* part = use.config.find(member);
  if (part == nullptr) return MessageEdits();
  auto edits = MessageEdits::read(*part, side);
  if (!edits) return base::Error::config(std::string(member) + "." + edits.error().detail);
  return edits;
}

processing::Made makeInProcess(const processing::Use& use) {
  auto request = readSide(use, "request", MessageSide::kRequest);
  if (!request) return {nullptr, {"UnsupportedValue", request.error().detail}};
  auto response = readSide(use, "response", MessageSide::kResponse);
  if (!response) return {nullptr, {"UnsupportedValue", response.error().detail}};
  return {std::make_shared<const InProcess>(std::move(request).value(), std::move(response).value()), {}};
}

}  // namespace

processing::BuiltinType inProcess() {
  return {"sluice.dev/InProcess:v1",
          {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kResponseHeaders, Phase::kResponseBody},
          true,
          kInProcessSchema,
          makeInProcess,
          true};
}

}  // namespace sluice::filters
