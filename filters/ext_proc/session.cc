#include "filters/ext_proc/session.h"

#include <utility>

#include "filters/ext_proc/head_changes.h"

namespace sluice::filters::ext_proc {
namespace {

using processing::Phase;
using processing::Verdict;

Phase bodyPhaseOf(Way way) { return way == Way::kRequest ? Phase::kRequestBody : Phase::kResponseBody; }

}  // namespace

Statement ServerSession::about(const processing::Call& call, Part part) {
  Statement statement{part};
  const Attributes& attributes = settings.attributesOf(wayOf(part));
  if (!std::exchange(of(wayOf(part)).told, true) && !attributes.empty()) {
    if (auto values = attributes.valuesIn(call, client)) {
      statement.attributes = *std::move(values);
    } else {
      lacksAttributes = true;
    }
  }
  return statement;
}

Statement ServerSession::headers(const processing::Call& call, Way way) {
  Statement statement = about(call, headersOf(way));
  statement.request = &call.request;
  statement.response = call.response;
  statement.ends = of(way).ended = !hasBody(call);
  return statement;
}

Statement ServerSession::body(const processing::Call& call, Way way, std::string bytes, bool ends) {
  Statement statement = about(call, bodyOf(way));
  statement.body = std::move(bytes);
  statement.ends = ends;
  return statement;
}

Statement ServerSession::trailers(const processing::Call& call, Way way) {
  Statement statement = about(call, trailersOf(way));
  statement.ends = true;
  statement.trailers = &call.body->trailers()->fields;
  return statement;
}

bool ServerSession::hasBody(const processing::Call& call) {
  return (call.response == nullptr ? call.request.body : call.response->body) != http::Body::kNone;
}

bool ServerSession::hasTrailers(const processing::Call& call, Way way) const {
  return talk.modes.of(way).trailers && call.body->trailers() != nullptr;
}

bool ServerSession::endsWithHeaders(Way way) const {
  const WayModes& modes = talk.modes.of(way);
  return of(way).ended || (modes.body == BodyForm::kSkipped && !modes.trailers);
}

Verdict ServerSession::obey(processing::Call& call, const ServerAnswer& answer) {
  if (answer.immediate) return reply(*answer.immediate);
  const PartAnswer& told = *answer.part;
  const Way way = wayOf(told.part);
  for (const HeaderChange& each : told.headers.set) changed_ += sizeof each + each.name.size() + each.value.size();
  if (changed_ > kMostChanged) return fail("the server changes more than it may", processing::Cause::kOverLimit);
  if (!change(call, told.headers)) return fail("the server sets :path to what is no path");
  if (call.wish != nullptr) {
    for (const auto& [name, value] : answer.hints) {
      call.wish->hints.set(call.arena, call.arena.copy(name), call.arena.copy(value));
    }
    if (told.clearsRoute || !answer.hints.empty()) call.wish->matchAgain = true;
  }
  endPhases(answer);
  if (answer.modes && settings.allowsOverride) {
    if (auto impossible = adopt(*answer.modes, way)) return fail(*std::move(impossible));
  }
  if (told.replaces && isHeaders(told.part)) {
    const bool isSkipped = settings.modes.of(way).body == BodyForm::kSkipped && !settings.isOpen(way);
    if (isSkipped || !settings.mayRunIn(bodyPhaseOf(way))) {
      return fail("the server replaces a body that it does not get");
    }
    of(way).replacement = told.body.value_or("");
    of(way).ended = true;
  }
  if (isHeaders(told.part) && endsWithHeaders(way)) talk.finish(way);
  return Verdict::goOn();
}

void ServerSession::endPhases(const ServerAnswer& answer) {
  if (!answer.modes || !settings.isTurnByTurn) return;
  for (const Way way : {Way::kRequest, Way::kResponse}) {
    if (answer.modes->of(way).body == BodyForm::kSkipped) talk.modes.of(way).body = BodyForm::kSkipped;
  }
  talk.modes.response.headers = talk.modes.response.headers && answer.modes->response.headers;
}

/// Takes over the modes that the answer to the headers of the way `told` asks for. As in Envoy, a body in full duplex
/// stays as it is. Returns the reason if they are impossible, because a server that asks for a body may depend on
/// seeing it.
std::optional<std::string> ServerSession::adopt(const ProcessingModes& wanted, Way told) {
  for (const Way way : {Way::kRequest, Way::kResponse}) {
    const WayModes& asked = wanted.of(way);
    if (way < told || !settings.isOpen(way)) continue;
    if (asked.body == BodyForm::kFullDuplex) {
      return "the server asks for a body in full duplex or in an unknown form, which it cannot choose by mode_override";
    }
    const bool asksForBody = asked.body != BodyForm::kSkipped || asked.trailers;
    if (asksForBody && !settings.mayRunIn(bodyPhaseOf(way))) {
      return "the server asks for a body in the phase " + std::string(phaseName(bodyPhaseOf(way))) +
             ", in which it is not used";
    }
    const bool keepsHeaders = way == told;  // the headers have been sent
    talk.modes.of(way) = {keepsHeaders ? talk.modes.of(way).headers : asked.headers, asked.body, asked.trailers};
  }
  return std::nullopt;
}

BodyForm ServerSession::formOf(Way way) const {
  if (const WayState& state = of(way); state.form) return *state.form;
  if (settings.saysHeadersWithBody(way)) return settings.modes.of(way).body;
  return of(way).replacement ? BodyForm::kStreamed : talk.modes.of(way).body;
}

BodyForm ServerSession::settle(Way way) {
  of(way).form = formOf(way);
  return *of(way).form;
}

void ServerSession::changeTrailers(processing::Call& call, const ServerAnswer& answer) {
  if (answer.part && call.body->trailers() != nullptr) change(*call.body->trailers(), answer.part->headers);
}

Verdict ServerSession::reply(const ImmediateAnswer& answer) {
  talk.close();
  return Verdict::reply(replyFrom(answer));
}

Verdict ServerSession::fail(std::string why, processing::Cause cause) {
  talk.close();
  return Verdict::fail(std::move(why), cause);
}

std::optional<Verdict> ServerSession::await(processing::Call& call, Way way, std::size_t more) {
  if (call.body != nullptr && !call.body->claim(talk.held() + more)) {
    return fail("the gateway has no room for what the server has not taken", processing::Cause::kNoRoom);
  }
  talk.await(call, way, talk.due(way));
  return std::nullopt;
}

}  // namespace sluice::filters::ext_proc
