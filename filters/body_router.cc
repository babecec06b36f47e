#include "filters/body_router.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "filters/body_choice.h"
#include "proxy/content/json_scan.h"

namespace sluice::filters {
namespace {

using processing::Verdict;

constexpr std::string_view kBodyRouterSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "BodyRouter",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "pointer": {"type": "string"},
    "jsonPath": {"type": "string", "minLength": 1},
    "header": {"type": "string", "minLength": 1},
    "routeHint": {"type": "string", "minLength": 1},
    "maxBodyBytes": {"type": "integer", "minimum": 1}
  }
})";

class BodyRouter final : public processing::PreAuthProcessor {
 public:
  BodyRouter(BodyChoice choice, std::string hint) : choice_(std::move(choice)), hint_(std::move(hint)) {}

  processing::BodyInterest body(processing::Phase /*phase*/) const override {
    return {.mode = processing::BodyMode::kInspected, .bound = choice_.maxBodyBytes(), .decoded = true};
  }
  std::span<const std::string> ownedFields() const override { return choice_.ownedFields(); }
  processing::BodyMode bodyMode(processing::BodyMode usual, const processing::MessageView& message) const override {
    return BodyChoice::concerns(message.request) ? usual : processing::BodyMode::kNone;
  }

  Verdict process(processing::Call& call) const override {
    std::string_view value;
    if (call.body != nullptr) {
      std::optional<content::JsonScan>& scan = call.state<ScanState>().scan;
      if (!scan) scan.emplace(choice_.scan());
      if (auto wrong = read(*call.body, *scan)) return *std::move(wrong);
      if (!call.body->last()) return Verdict::goOn();
      const auto chosen = BodyChoice::chosenBy(scan->found());
      if (!chosen) return Verdict::fail(chosen.error().detail, processing::Cause::kBadBody);
      value = call.arena.copy(*chosen);
      scan.reset();
    }
    choice_.apply(call.edit, value);
    if (call.wish == nullptr || value.empty()) return Verdict::goOn();
    if (!hint_.empty()) call.wish->hints.set(call.arena, hint_, value);
    call.wish->matchAgain = true;
    return Verdict::goOn();
  }

 private:
  /// The state of the scan of a body, from one piece to the next.
  struct ScanState {
    std::optional<content::JsonScan> scan;
  };

  /// Scans the next piece. Returns nothing as long as there is no fault. A body without bytes is no fault: it has no
  /// value.
  static std::optional<Verdict> read(processing::Body& body, content::JsonScan& scan) {
    bool good = true;
    body.bytes().forEachRun([&](std::string_view run) { good = good && scan.feed(run); });
    good = good && (!body.last() || scan.isEmpty() || scan.end());
    if (!good) return Verdict::fail("the body is no JSON", processing::Cause::kBadBody);
    if (body.claim(scan.memory())) return std::nullopt;
    return Verdict::fail("there is no room to read the body", processing::Cause::kNoRoom, "processorBufferTotal");
  }

  const BodyChoice choice_;
  const std::string hint_;  // in lower case
};

processing::Made makeBodyRouter(const processing::Use& use) {
  auto choice = BodyChoice::read(use.config);
  if (!choice) return {nullptr, {"InvalidConfig", choice.error().detail}};
  std::string hint = choice->routeHint();
  return {std::make_shared<const BodyRouter>(std::move(choice).value(), std::move(hint)), {}};
}

}  // namespace

processing::BuiltinType bodyRouter() {
  return {"sluice.dev/BodyRouter:v1", {processing::Phase::kRequestBody}, true, kBodyRouterSchema, makeBodyRouter};
}

}  // namespace sluice::filters
