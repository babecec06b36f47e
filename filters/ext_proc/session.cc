#include "filters/ext_proc/session.h"

#include <utility>

#include "filters/ext_proc/head_changes.h"

namespace sluice::filters::ext_proc {
namespace {

using processing::Verdict;

/// Returns what is left of `modes` if the server wants no more than `wanted`. A body in full duplex goes on, because
/// parts of it may have been said.
ProcessingModes narrowed(ProcessingModes modes, const ProcessingModes& wanted) {
  for (const Way way : {Way::kRequest, Way::kResponse}) {
    WayModes& left = modes.of(way);
    if (left.body == BodyForm::kFullDuplex) continue;
    if (wanted.of(way).body == BodyForm::kSkipped) left.body = BodyForm::kSkipped;
    left.trailers = left.trailers && wanted.of(way).trailers;
  }
  modes.response.headers = modes.response.headers && wanted.response.headers;
  return modes;
}

}  // namespace

Statement ServerSession::headers(const processing::Call& call, Way way) {
  Statement statement{headersOf(way)};
  statement.request = &call.request;
  statement.response = call.response;
  statement.ends = of(way).ended = !hasBody(call);
  attributes_ = settings.attributesOf(way).valuesIn(call);
  statement.attributes = &attributes_;
  return statement;
}

Statement ServerSession::trailers(const processing::Call& call, Way way) {
  Statement statement{trailersOf(way)};
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
  return ways_[static_cast<std::size_t>(way)].ended || (modes.body == BodyForm::kSkipped && !modes.trailers);
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
  narrow(answer);
  if (told.replaces && isHeaders(told.part)) {
    if (settings.modes.of(way).body == BodyForm::kSkipped) {
      return fail("the server replaces a body that its processingMode skips");
    }
    of(way).replacement = told.body.value_or("");
    of(way).ended = true;
  }
  if (isHeaders(told.part) && endsWithHeaders(way)) talk.finish(way);
  return Verdict::goOn();
}

void ServerSession::narrow(const ServerAnswer& answer) {
  if (answer.modes && settings.allowsOverride) talk.modes = narrowed(talk.modes, *answer.modes);
}

void ServerSession::changeTrailers(processing::Call& call, const ServerAnswer& answer) {
  if (answer.part && call.body->trailers() != nullptr) change(*call.body->trailers(), answer.part->headers);
}

Verdict ServerSession::reply(const ImmediateAnswer& answer) {
  talk.close();
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    "an external processor has refused this request");
  error.status = answer.status;
  return Verdict::reply({std::move(error), fieldsOf(answer.headers), answer.body, answer.grpcStatus});
}

Verdict ServerSession::fail(std::string why, processing::Cause cause) {
  talk.close();
  return Verdict::fail(std::move(why), cause);
}

std::optional<Verdict> ServerSession::await(processing::Call& call, Way way, std::size_t more) {
  if (call.body != nullptr && !call.body->claim(talk.held() + more)) {
    return fail("the gateway has no room for what the server has not taken", processing::Cause::kNoRoom);
  }
  talk.await(call, talk.due(way));
  return std::nullopt;
}

}  // namespace sluice::filters::ext_proc
