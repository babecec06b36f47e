#include "filters/in_process.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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

/// How long a step waits for its next turn, which always comes.
constexpr base::Duration kLongestPause = std::chrono::hours(1);

/// The state of a step between its turns: the body as its expressions read it, and what they have said so far.
class EditRun {
 public:
  /// Takes the body in one piece, which is copied unless it is in one already. Returns false if there is no room for
  /// that and for an edited copy.
  bool take(processing::Body& body, const MessageEdits& edits, base::Arena& arena) {
    const base::ByteQueue& bytes = body.bytes();
    const bool isWhole = bytes.front().size() == bytes.size();
    const auto isTaken = [&] {
      return !copied_.empty() || (isWhole && bytes.front().data() == document_->text().data());
    };
    if (document_ && isTaken()) return true;
    if (!body.claim((isWhole ? 0 : bytes.size()) + (edits.editsBody() ? bytes.size() : 0))) return false;
    if (!isWhole) {
      copied_.reserve(bytes.size());
      bytes.forEachRun([&](std::string_view run) { copied_ += run; });
    }
    document_.emplace(isWhole ? bytes.front() : std::string_view(copied_), edits.reads(), arena);
    return true;
  }
  /// Returns the body; an empty one if none was taken.
  BodyDocument& document(const MessageEdits& edits, base::Arena& arena) {
    if (!document_) document_.emplace(std::string_view(), edits.reads(), arena);
    return *document_;
  }

  EditProgress progress;

 private:
  std::string copied_;
  std::optional<BodyDocument> document_;
};

class InProcess final : public processing::Processor {
 public:
  InProcess(MessageEdits request, MessageEdits response, std::uint64_t mostSteps)
      : request_(std::move(request)), response_(std::move(response)), mostSteps_(mostSteps) {
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
    auto& run = call.state<EditRun>();
    if (call.body != nullptr && !run.take(*call.body, edits, call.arena)) {
      return Verdict::fail("there is no room for the body", processing::Cause::kNoRoom, "processorBufferTotal");
    }
    BodyDocument* const document = edits.needsBody() ? &run.document(edits, call.arena) : nullptr;
    const ExpressionInput input{call.request, peer, call.response, document};
    if (auto other = edits.prepare(input, {call.arena, workOf(call), mostSteps_}, run.progress)) {
      if (other->kind() == Verdict::Kind::kWait) call.pause(call.clock.now() + kLongestPause);
      return *std::move(other);
    }
    const MessageChanges& changes = run.progress.changes;
    change(call, edits, changes);
    if (changes.body && call.body != nullptr) call.body->replacement().append(*changes.body);
    return Verdict::goOn();
  }

  void withhold(http::Headers& fields) const override {
    response_.eachOldField([&](std::string_view name) { fields.removeTwins(name); });
  }

 private:
  const MessageEdits& of(Phase phase) const { return processing::isOfRequest(phase) ? request_ : response_; }

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
  const std::uint64_t mostSteps_;
  std::vector<Phase> phases_;
};

base::Result<MessageEdits> readSide(const processing::Use& use, std::string_view member, MessageSide side,
                                    ExpressionPatterns& patterns) {
  const content::Value* part = use.config.find(member);
  if (part == nullptr) return MessageEdits();
  auto edits = MessageEdits::read(*part, side, patterns);
  if (!edits) return base::Error::config(std::string(member) + "." + edits.error().detail);
  return edits;
}

processing::Made makeInProcess(const processing::Use& use) {
  ExpressionPatterns patterns(use.work);
  auto request = readSide(use, "request", MessageSide::kRequest, patterns);
  if (!request) return {nullptr, {"UnsupportedValue", request.error().detail}};
  auto response = readSide(use, "response", MessageSide::kResponse, patterns);
  if (!response) return {nullptr, {"UnsupportedValue", response.error().detail}};
  return {std::make_shared<const InProcess>(std::move(request).value(), std::move(response).value(), use.work.steps),
          {}};
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
