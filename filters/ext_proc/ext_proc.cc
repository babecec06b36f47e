#include "filters/ext_proc/ext_proc.h"

#include <utility>
#include <vector>

#include "filters/ext_proc/conversation.h"
#include "filters/ext_proc/head_changes.h"
#include "filters/ext_proc/settings.h"

namespace sluice::filters {
namespace {

using ext_proc::BodyForm;
using ext_proc::Conversation;
using ext_proc::Part;
using ext_proc::ProcessingModes;
using ext_proc::ServerAnswer;
using ext_proc::Way;
using ext_proc::wayOf;
using processing::Phase;
using processing::Verdict;

/// The part that a phase is about; phases next to the Backend are about heads.
Part partOf(Phase phase) {
  switch (phase) {
    case Phase::kRequestHeaders:
    case Phase::kConnect:
    case Phase::kBackendRequest:
      return Part::kRequestHeaders;
    case Phase::kRequestBody:
      return Part::kRequestBody;
    case Phase::kBackendResponse:
    case Phase::kResponseHeaders:
      return Part::kResponseHeaders;
    case Phase::kResponseBody:
      return Part::kResponseBody;
  }
  return Part::kRequestHeaders;
}

/// Returns what is left of `modes` if the server wants no more than `wanted`.
ProcessingModes narrowed(ProcessingModes modes, const ProcessingModes& wanted) {
  if (wanted.requestBody == BodyForm::kSkipped) modes.requestBody = BodyForm::kSkipped;
  if (wanted.responseBody == BodyForm::kSkipped) modes.responseBody = BodyForm::kSkipped;
  modes.responseHeaders = modes.responseHeaders && wanted.responseHeaders;
  return modes;
}

std::vector<Phase> phasesOf(const ProcessingModes& modes) {
  std::vector<Phase> phases;
  if (modes.requestHeaders) phases.push_back(Phase::kRequestHeaders);
  if (modes.requestBody != BodyForm::kSkipped) phases.push_back(Phase::kRequestBody);
  if (modes.responseHeaders) phases.push_back(Phase::kResponseHeaders);
  if (modes.responseBody != BodyForm::kSkipped) phases.push_back(Phase::kResponseBody);
  return phases;
}

class ExtProc final : public processing::PreAuthProcessor {
 public:
  ExtProc(ext_proc::ExtProcSettings settings, std::shared_ptr<const processing::CalloutTarget> server)
      : settings_(std::move(settings)), phases_(phasesOf(settings_.modes)), server_(std::move(server)) {}

  Verdict process(processing::Call& call) const override {
    auto& talk = call.shared<Conversation>(this, settings_.modes);
    const Part part = partOf(call.phase);
    if (isBody(part) && talk.partial(wayOf(part)).replacement) return replace(call, part, talk);
    if (hasLostStep(part, talk)) talk.close();
    if (talk.isOver()) return goOnWithout(call, part, talk);
    if (!talk.awaited(wayOf(part))) {
      const std::optional<std::string> message = messageAbout(call, part, talk);
      if (!message) return Verdict::goOn();
      talk.say(call, server_, part, *message);
    }
    return listen(call, part, talk);
  }
  processing::BodyInterest body(Phase phase) const override {
    const BodyForm form = formOf(settings_.modes, partOf(phase));
    switch (form) {
      case BodyForm::kSkipped:
        return {};
      case BodyForm::kBuffered:
        return {processing::BodyMode::kBuffered, 0, true, false};
      case BodyForm::kStreamed:
      case BodyForm::kBufferedPartial:
        return {processing::BodyMode::kStreamed, 0, true, false};
    }
    return {};
  }
  std::span<const Phase> phases() const override { return phases_; }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return {&server_, 1}; }

 private:
  /// As much of a body as is collected for a server that gets what fits.
  static constexpr std::size_t kMostPartial = std::size_t{64} * 1024;

  static bool isBody(Part part) { return part == Part::kRequestBody || part == Part::kResponseBody; }
  static BodyForm formOf(const ProcessingModes& modes, Part part) {
    if (part == Part::kRequestBody) return modes.requestBody;
    return part == Part::kResponseBody ? modes.responseBody : BodyForm::kSkipped;
  }

  /// Returns true if a step that has waited for an answer has failed and was left out: the exchange would not be here
  /// otherwise. Only a streamed body of the request may still wait when the response has begun.
  bool hasLostStep(Part part, const Conversation& talk) const {
    const auto& same = talk.awaited(wayOf(part));
    if (same && *same != part) return true;
    const auto& ofRequest = talk.awaited(Way::kRequest);
    if (wayOf(part) == Way::kRequest || !ofRequest) return false;
    return *ofRequest == Part::kRequestHeaders || settings_.modes.requestBody == BodyForm::kBuffered;
  }

  /// Returns the next message to the server; nullopt if it is to be told nothing now.
  std::optional<std::string> messageAbout(processing::Call& call, Part part, Conversation& talk) const {
    const ext_proc::Introduction first{settings_.modes, settings_.context, call.place};
    const ext_proc::Introduction* introduction = talk.isNew() ? &first : nullptr;
    if (part == Part::kRequestHeaders) {
      talk.requestEnds = call.request.body == http::Body::kNone;
      return ext_proc::requestHeadersMessage(call.request, talk.requestEnds, introduction);
    }
    if (part == Part::kResponseHeaders) {
      if (!talk.modes.responseHeaders) return std::nullopt;
      talk.responseEnds = call.response->body == http::Body::kNone;
      return ext_proc::responseHeadersMessage(*call.response, talk.responseEnds, introduction);
    }
    return bodyMessageAbout(call, part, talk, introduction);
  }

  std::optional<std::string> bodyMessageAbout(processing::Call& call, Part part, Conversation& talk,
                                              const ext_proc::Introduction* introduction) const {
    const BodyForm form = formOf(talk.modes, part);
    const bool ofRequest = part == Part::kRequestBody;
    const bool hasEnded = ofRequest ? talk.requestEnds || call.request.body == http::Body::kNone
                                    : talk.responseEnds || call.response->body == http::Body::kNone;
    if (call.body == nullptr || form == BodyForm::kSkipped || hasEnded) return std::nullopt;
    processing::Body& body = *call.body;
    if (form == BodyForm::kBuffered) return ext_proc::bodyMessage(part, body.bytes().text(), true, introduction);
    if (body.bytes().empty() && !body.last()) return std::nullopt;  // asked about the head alone
    if (form == BodyForm::kStreamed) {
      return ext_proc::bodyMessage(part, body.bytes().text(), body.last(), introduction);
    }
    Conversation::Partial& partial = talk.partial(wayOf(part));
    if (partial.said) return std::nullopt;
    partial.bytes += body.bytes().text();
    if (partial.bytes.size() < kMostPartial && !body.last()) {
      body.replacement();  // it goes on when the server has answered
      return std::nullopt;
    }
    partial.said = true;
    return ext_proc::bodyMessage(part, partial.bytes, body.last(), introduction);
  }

  Verdict listen(processing::Call& call, Part part, Conversation& talk) const {
    ServerAnswer answer;
    switch (talk.hear(wayOf(part), answer)) {
      case Conversation::Heard::kAnswer:
        return answer.immediate ? reply(*answer.immediate, talk) : obey(call, answer, talk);
      case Conversation::Heard::kEnd:
        return goOnWithout(call, part, talk);
      case Conversation::Heard::kFailure:
        return Verdict::fail(talk.failure(), talk.cause());
      case Conversation::Heard::kNothing:
        break;
    }
    const std::size_t held = talk.unsent() + talk.partial(wayOf(part)).bytes.size();
    if (call.body != nullptr && !call.body->claim(held)) {
      return failed(talk, "the gateway has no room for what the server has not taken", processing::Cause::kNoRoom);
    }
    talk.await(call.suspend());
    return Verdict::wait();
  }

  Verdict obey(processing::Call& call, const ServerAnswer& answer, Conversation& talk) const {
    const ext_proc::PartAnswer& told = *answer.part;
    if (!change(call, told.headers)) return failed(talk, "the server sets :path to what is no path");
    if (told.clearsRoute && call.wish != nullptr) call.wish->matchAgain = true;
    const bool isHead = !isBody(told.part);
    if (answer.modes && settings_.allowsOverride && isHead) talk.modes = narrowed(settings_.modes, *answer.modes);
    if (isHead && told.replaces) return replaceLater(told, talk);
    if (!isHead) putBody(*call.body, told, talk);
    if (isLast(told.part, call, talk)) talk.finish(wayOf(told.part));
    return Verdict::goOn();
  }

  /// The server has seen enough of this request or response, and gives its whole body.
  Verdict replaceLater(const ext_proc::PartAnswer& told, Conversation& talk) const {
    const Part body = told.part == Part::kRequestHeaders ? Part::kRequestBody : Part::kResponseBody;
    if (formOf(settings_.modes, body) == BodyForm::kSkipped) {
      return failed(talk, "the server replaces a body that its processingMode skips");
    }
    talk.partial(wayOf(body)).replacement = told.body.value_or("");
    (body == Part::kRequestBody ? talk.requestEnds : talk.responseEnds) = true;
    talk.finish(wayOf(body));
    return Verdict::goOn();
  }

  static Verdict replace(const processing::Call& call, Part part, Conversation& talk) {
    if (call.body == nullptr) return Verdict::goOn();
    std::optional<std::string>& replacement = talk.partial(wayOf(part)).replacement;
    base::ByteQueue& bytes = call.body->replacement();
    const bool last = call.body->last();
    if (!call.body->claim(last ? 0 : replacement->size())) {
      return failed(talk, "the gateway has no room for the body that the server gives", processing::Cause::kNoRoom);
    }
    if (!last) return Verdict::goOn();
    bytes.append(*replacement);
    replacement.reset();
    return Verdict::goOn();
  }

  static void putBody(processing::Body& body, const ext_proc::PartAnswer& told, Conversation& talk) {
    std::string& partial = talk.partial(wayOf(told.part)).bytes;
    if (!partial.empty()) {
      body.replacement().append(told.body.value_or(partial));
      partial = {};
      body.claim(0);
    } else if (told.body) {
      body.replacement().append(*told.body);
    }
  }

  /// Returns true if the server will be told of nothing of that way behind that part.
  static bool isLast(Part part, const processing::Call& call, Conversation& talk) {
    switch (part) {
      case Part::kRequestHeaders:
        return talk.requestEnds || talk.modes.requestBody == BodyForm::kSkipped;
      case Part::kResponseHeaders:
        return talk.responseEnds || talk.modes.responseBody == BodyForm::kSkipped;
      case Part::kRequestBody:
      case Part::kResponseBody:
        return call.body->last() || talk.partial(wayOf(part)).said;
    }
    return false;
  }

  /// The server wants to hear no more; what it has not answered to goes on as it is.
  static Verdict goOnWithout(processing::Call& call, Part part, Conversation& talk) {
    std::string& partial = talk.partial(wayOf(part)).bytes;
    if (call.body != nullptr && !partial.empty()) {
      call.body->replacement().append(std::exchange(partial, {}));
      call.body->claim(0);
    }
    return Verdict::goOn();
  }

  static Verdict failed(Conversation& talk, std::string why, processing::Cause cause = processing::Cause::kError) {
    talk.close();
    return Verdict::fail(std::move(why), cause);
  }

  static Verdict reply(const ext_proc::ImmediateAnswer& answer, Conversation& talk) {
    talk.close();
    base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                      "an external processor has refused this request");
    error.status = answer.status;
    return Verdict::reply({std::move(error), fieldsOf(answer.headers), answer.body});
  }

  const ext_proc::ExtProcSettings settings_;
  const std::vector<Phase> phases_;
  const std::shared_ptr<const processing::CalloutTarget> server_;
};

processing::Made makeExtProc(const processing::Use& use) {
  auto settings = ext_proc::readSettings(use);
  if (!settings) return {nullptr, {"InvalidConfig", settings.error().detail}};
  processing::FoundBackend server = use.targets.find(settings->server, true);
  if (server.target == nullptr) return {nullptr, std::move(server.refusal)};
  return {std::make_shared<const ExtProc>(std::move(settings).value(), std::move(server.target)), {}};
}

}  // namespace

processing::BuiltinType extProc() {
  return {.type = "sluice.dev/ExtProc:v1",
          .phases = {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kBackendRequest, Phase::kBackendResponse,
                     Phase::kResponseHeaders, Phase::kResponseBody},
          .preAuth = true,
          .schema = ext_proc::kExtProcSchema,
          .make = makeExtProc,
          .spans = true,
          .engine = "ext-proc"};
}

}  // namespace sluice::filters
