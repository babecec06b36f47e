#include "filters/ext_proc/ext_proc.h"

#include <optional>
#include <utility>
#include <vector>

#include "filters/ext_proc/body_relay.h"
#include "filters/ext_proc/buffered_body.h"
#include "filters/ext_proc/connect_step.h"
#include "filters/ext_proc/head_step.h"
#include "filters/ext_proc/session.h"
#include "filters/ext_proc/settings.h"
#include "filters/ext_proc/trailer_step.h"
#include "filters/wire_text.h"

namespace sluice::filters {
namespace {

using ext_proc::BodyForm;
using ext_proc::BodyRelay;
using ext_proc::BufferedBody;
using ext_proc::ConnectStep;
using ext_proc::ExtProcSettings;
using ext_proc::HeadStep;
using ext_proc::ServerSession;
using ext_proc::TrailerStep;
using ext_proc::Way;
using ext_proc::WayModes;
using processing::BodyMode;
using processing::Phase;
using processing::Verdict;

std::vector<Phase> phasesOf(const ExtProcSettings& settings) {
  std::vector<Phase> phases;
  const auto add = [&](Way way, Phase headers, Phase body) {
    const WayModes& modes = settings.modes.of(way);
    const bool mayChoose = settings.isOpen(way);
    if ((modes.headers || mayChoose) && !settings.saysHeadersWithBody(way)) phases.push_back(headers);
    if (modes.body != BodyForm::kSkipped || modes.trailers || mayChoose) phases.push_back(body);
  };
  add(Way::kRequest, Phase::kRequestHeaders, Phase::kRequestBody);
  add(Way::kResponse, Phase::kResponseHeaders, Phase::kResponseBody);
  return phases;
}

/// Sends the part to a server that only observes, and goes on.
Verdict mention(processing::Call& call, ServerSession& session, Way way) {
  const WayModes& modes = session.talk.modes.of(way);
  if (session.talk.isOver()) return Verdict::goOn();
  if (call.body == nullptr) {
    session.talk.mention(call, session.headers(call, way));
    if (session.endsWithHeaders(way)) session.talk.finish(way);
    return Verdict::goOn();
  }
  const bool last = call.body->last();
  const bool hasTrailers = last && session.hasTrailers(call, way);
  if (modes.body != BodyForm::kSkipped && ServerSession::hasBody(call) && (last || !call.body->bytes().empty())) {
    session.talk.mention(call, session.body(call, way, call.body->bytes().text(), last && !hasTrailers));
  }
  if (hasTrailers) session.talk.mention(call, session.trailers(call, way));
  // Without room for the bytes that the server has not taken, the stream ends.
  if (!call.body->claim(session.talk.held())) session.talk.close();
  if (last) session.talk.finish(way);
  return Verdict::goOn();
}

class ExtProc final : public processing::Processor {
 public:
  ExtProc(ExtProcSettings settings, std::shared_ptr<const processing::CalloutTarget> server)
      : settings_(std::move(settings)), phases_(phasesOf(settings_)), server_(std::move(server)) {}

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    auto& session = call.shared<ServerSession>(this, settings_, server_);
    session.client = peer;
    const Way way = wayOf(call.phase);
    if (settings_.observes) return mention(call, session, way);
    if (session.talk.isLate(call, way)) {
      session.talk.giveUp();
      // The step of the request's body may still wait for room to go on, and has not failed yet.
      if (way == Way::kResponse && body(Phase::kRequestBody).mode == BodyMode::kDuplex) return session.failed();
    }
    Verdict verdict = ask(call, session, way);
    if (!session.lacksAttributes) return verdict;
    // A server does not decide without the attributes that it is to decide by.
    session.talk.giveUp();
    return Verdict::overWork();
  }
  processing::BodyInterest body(Phase phase) const override {
    if (!isOfBody(phase)) return {};
    const WayModes& modes = settings_.modes.of(wayOf(phase));
    const BodyMode mode = settings_.isOpen(wayOf(phase)) ? BodyMode::kDuplex : modeFor(modes.body, modes.trailers);
    const bool mayEdit = mode == BodyMode::kDuplex || mode == BodyMode::kBuffered;
    return {mode, 0, mayEdit, false};
  }
  BodyMode bodyMode(BodyMode usual, const processing::MessageView& message) const override {
    const Way way = wayOf(message.phase);
    const auto* session = processing::findShared<ServerSession>(message.lasting, this);
    if (session == nullptr) return modeFor(settings_.modes.of(way).body, settings_.modes.of(way).trailers);
    if (settings_.saysHeadersWithBody(way)) return usual;
    return modeFor(session->formOf(way), session->talk.modes.of(way).trailers);
  }
  std::span<const Phase> phases() const override { return phases_; }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return {&server_, 1}; }
  std::uint16_t statusOnError() const override { return settings_.statusOnError; }

 private:
  static Verdict ask(processing::Call& call, ServerSession& session, Way way) {
    if (!isOfBody(call.phase)) return call.state<HeadStep>().ask(call, session, way);
    switch (session.settle(way)) {
      case BodyForm::kSkipped:
        return call.state<TrailerStep>().ask(call, session, way);
      case BodyForm::kBuffered:
        return call.state<BufferedBody>().ask(call, session, way);
      case BodyForm::kStreamed:
      case BodyForm::kBufferedPartial:
      case BodyForm::kFullDuplex:
        return call.state<BodyRelay>().ask(call, session, way);
    }
    return Verdict::goOn();
  }
  static Way wayOf(Phase phase) { return processing::isOfRequest(phase) ? Way::kRequest : Way::kResponse; }
  BodyMode modeFor(BodyForm form, bool trailers) const {
    if (form == BodyForm::kSkipped) return trailers ? BodyMode::kStreamed : BodyMode::kNone;
    if (form == BodyForm::kBuffered) return BodyMode::kBuffered;
    return settings_.observes ? BodyMode::kStreamed : BodyMode::kDuplex;
  }
  /// In phases of the attempt there are only heads.
  static bool isOfBody(Phase phase) { return phase == Phase::kRequestBody || phase == Phase::kResponseBody; }

  const ExtProcSettings settings_;
  const std::vector<Phase> phases_;
  const std::shared_ptr<const processing::CalloutTarget> server_;
};

/// Runs in connect, where the server decides about addresses. The phase comes after authentication.
class ExtProcOfConnect final : public processing::Processor {
 public:
  ExtProcOfConnect(ExtProcSettings settings, std::shared_ptr<const processing::CalloutTarget> server)
      : settings_(std::move(settings)), server_(std::move(server)) {}

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    return call.state<ConnectStep>().ask(call, peer, settings_, server_);
  }
  std::optional<Verdict> expired(processing::Call& call) const override {
    return call.state<ConnectStep>().expired(call, settings_, server_);
  }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return {&server_, 1}; }
  std::uint16_t statusOnError() const override { return settings_.statusOnError; }

 private:
  const ExtProcSettings settings_;
  const std::shared_ptr<const processing::CalloutTarget> server_;
};

processing::Made makeExtProc(const processing::Use& use) {
  auto settings = ext_proc::readSettings(use);
  if (!settings) return {nullptr, {"InvalidConfig", settings.error().detail}};
  const bool isOfConnect = use.phases == processing::bitOf(Phase::kConnect);
  if (isOfConnect && settings->isTurnByTurn) {
    return {nullptr, {"InvalidConfig", "protocol: a PayloadProcessor gets no attributes, so it cannot run in connect"}};
  }
  processing::FoundBackend server = use.targets.find(settings->server, true);
  if (server.target == nullptr) return {nullptr, std::move(server.refusal)};
  if (isOfConnect) {
    settings->modes = {{}, {false, BodyForm::kSkipped, false}};
    return {std::make_shared<const ExtProcOfConnect>(std::move(settings).value(), std::move(server.target)), {}};
  }
  return {std::make_shared<const ExtProc>(std::move(settings).value(), std::move(server.target)), {}};
}

}  // namespace

processing::BuiltinType extProc() {
  muteProtobuf();
  return {.type = "sluice.dev/ExtProc:v1",
          .phases = {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kConnect, Phase::kBackendRequest,
                     Phase::kBackendResponse, Phase::kResponseHeaders, Phase::kResponseBody},
          .preAuth = true,
          .schema = ext_proc::kExtProcSchema,
          .make = makeExtProc,
          .spans = true,
          .engine = "ext-proc"};
}

}  // namespace sluice::filters
