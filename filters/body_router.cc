#include "filters/body_router.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "filters/body_choice.h"
#include "proxy/content/form_scan.h"
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
    if (BodyChoice::isJson(message.request)) return usual;
    return choice_.isForm(message.request) ? processing::BodyMode::kSearched : processing::BodyMode::kNone;
  }

  Verdict process(processing::Call& call) const override {
    std::string_view value;
    if (call.body != nullptr) {
      ScanState& state = call.state<ScanState>();
      if (auto wrong = BodyChoice::isJson(call.request) ? readJson(call, state) : readForm(call, state)) {
        return *std::move(wrong);
      }
      if (!call.body->last()) return Verdict::goOn();
      const auto chosen = BodyChoice::chosenBy(state.found());
      if (!chosen) return Verdict::fail(chosen.error().detail, processing::Cause::kBadBody);
      value = call.arena.copy(*chosen);
      state.json.reset();
      state.form.reset();
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
    std::optional<content::JsonScan> json;
    std::optional<content::FormScan> form;

    const content::FoundJson* found() const { return json ? json->found() : form ? form->found() : nullptr; }
  };

  // Each of these scans the next piece. It returns nothing as long as there is no fault. A body without bytes is no
  // fault: it has no value.
  std::optional<Verdict> readJson(processing::Call& call, ScanState& state) const {
    if (!state.json) state.json.emplace(choice_.scan());
    content::JsonScan& scan = *state.json;
    const bool good = feed(*call.body, scan) && (!call.body->last() || scan.isEmpty() || scan.end());
    if (!good) return Verdict::fail("the body is no JSON", processing::Cause::kBadBody);
    return claim(*call.body, scan.memory());
  }
  std::optional<Verdict> readForm(processing::Call& call, ScanState& state) const {
    const processing::Body& body = *call.body;
    if (!state.form) {
      if (body.bytes().empty()) return std::nullopt;
      auto wanted = choice_.formScan(call.request);
      if (!wanted) return Verdict::fail("the body is a form without a boundary", processing::Cause::kBadBody);
      state.form.emplace(*std::move(wanted));
    }
    content::FormScan& scan = *state.form;
    bool good = feed(body, scan);
    if (body.last()) good = good && (scan.end() || (body.isCut() && !scan.isInside()));
    if (!good) return Verdict::fail("the body is no form", processing::Cause::kBadBody);
    return claim(*call.body, scan.memory());
  }
  template <typename Scan>
  static bool feed(const processing::Body& body, Scan& scan) {
    bool good = true;
    body.bytes().forEachRun([&](std::string_view run) { good = good && scan.feed(run); });
    return good;
  }
  static std::optional<Verdict> claim(processing::Body& body, std::size_t bytes) {
    if (body.claim(bytes)) return std::nullopt;
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
