#include "filters/ext_proc/body_relay.h"

#include <utility>

namespace sluice::filters::ext_proc {

using processing::Verdict;

Verdict BodyRelay::ask(processing::Call& call, ServerSession& session, Way way) {
  if (!begun_) {
    if (auto over = begin(call, session, way)) return *std::move(over);
  }
  const auto hasReplacement = [&] { return replaced_ || session.of(way).replacement.has_value(); };
  if (!hasReplacement()) {
    if (auto ended = listen(call, session, way)) return *std::move(ended);
  }
  if (hasReplacement()) return replace(call, session, way);
  const bool taken = give(call, session, way);
  if (isDone(session, way)) return finish(call, session, way);
  if (!session.talk.isNew()) {
    if (auto failed = session.await(call, way, bytes_ + held_.size())) return *std::move(failed);
  }
  if (!taken) return Verdict::wait();
  return decided_ ? Verdict::stream() : Verdict::hold();
}

/// Returns a verdict if nothing of this body is sent to the server.
std::optional<Verdict> BodyRelay::begin(processing::Call& call, ServerSession& session, Way way) {
  begun_ = true;
  const WayModes& modes = session.talk.modes.of(way);
  form_ = modes.body;
  if (session.of(way).replacement) return std::nullopt;
  if (session.talk.isOver()) return Verdict::goOn();
  const bool saysHeaders = modes.headers && session.settings.saysHeadersWithBody(way);
  if (!saysHeaders) {
    if (form_ == BodyForm::kSkipped || session.of(way).ended || !ServerSession::hasBody(call)) return Verdict::goOn();
    decided_ = true;
    return std::nullopt;
  }
  Statement statement = session.headers(call, way);
  endSaid_ = statement.ends;
  const bool inItsOwnTime = form_ == BodyForm::kFullDuplex && !endSaid_;
  session.talk.say(call, std::move(statement),
                   inItsOwnTime ? Conversation::Answers::kInItsOwnTime : Conversation::Answers::kDue);
  return std::nullopt;
}

// --- answers of the server -------------------------------------------------------------------------------------------

std::optional<Verdict> BodyRelay::listen(processing::Call& call, ServerSession& session, Way way) {
  for (int heard = 0; !session.talk.isNew(); ++heard) {
    if (call.body->replacementSize() >= kMostGiven || heard == kMostHeard) {
      session.talk.stopHearing();
      return std::nullopt;
    }
    ServerAnswer answer;
    switch (session.talk.hear(call, way, answer)) {
      case Conversation::Heard::kAnswer:
        if (auto ended = obey(call, session, answer)) return ended;
        break;
      case Conversation::Heard::kEnd:
        return goOnWithout(call, session, way);
      case Conversation::Heard::kFailure:
        return session.failed();
      case Conversation::Heard::kNothing:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Verdict> BodyRelay::obey(processing::Call& call, ServerSession& session, const ServerAnswer& answer) {
  if (answer.immediate) return session.reply(*answer.immediate);
  const PartAnswer& told = *answer.part;
  if (!isHeaders(told.part) && !isBody(told.part)) {
    ServerSession::changeTrailers(call, answer);
    answered_ = true;
    return std::nullopt;
  }
  if (decided_) {
    session.endPhases(answer);
  } else if (Verdict verdict = session.obey(call, answer); verdict.kind() != Verdict::Kind::kContinue) {
    return verdict;
  }
  if (isBody(told.part)) return obeyBody(call, session, told);
  decided_ = decided_ || !told.holds || endSaid_;
  const Way way = wayOf(told.part);
  const bool isUnwanted = form_ != BodyForm::kFullDuplex && session.endsWithHeaders(way);
  if (endSaid_ || session.of(way).replacement || !isUnwanted) return std::nullopt;
  return passRest(call);
}

std::optional<Verdict> BodyRelay::obeyBody(processing::Call& call, ServerSession& session, const PartAnswer& told) {
  const bool wantsNoMore = session.talk.modes.of(wayOf(told.part)).body == BodyForm::kSkipped;
  switch (form_) {
    case BodyForm::kFullDuplex:
      if (answered_) return session.fail("the server goes on behind the end of its body");
      call.body->replacement().append(*told.body);
      answered_ = told.ends;
      return std::nullopt;
    case BodyForm::kBufferedPartial:
      call.body->replacement().append(told.body.value_or(held_));
      held_ = {};
      passes_ = session.talk.modes.of(wayOf(told.part)).trailers;
      if (passes_) return std::nullopt;
      session.talk.finish(wayOf(told.part));
      return passRest(call);
    default:
      break;
  }
  std::string piece = std::move(pieces_.front());
  pieces_.pop_front();
  bytes_ -= sizeOf(piece);
  held_ += piece;
  if (held_.size() > session.settings.mostHeld) {
    return session.fail("the server keeps more of the body than it may", processing::Cause::kOverLimit);
  }
  if (told.holds && !(endSaid_ && pieces_.empty())) return std::nullopt;
  call.body->replacement().append(told.body.value_or(held_));
  held_ = {};
  decided_ = true;
  if (wantsNoMore && pieces_.empty()) {
    session.talk.finish(wayOf(told.part));
    return passRest(call);
  }
  return std::nullopt;
}

// --- messages of the gateway -----------------------------------------------------------------------------------------

bool BodyRelay::give(processing::Call& call, ServerSession& session, Way way) {
  const processing::Body& body = *call.body;
  const bool hasNews = !body.bytes().empty() || (body.last() && !endSaid_);
  if (!hasNews) return true;
  if (answered_) {  // the server's body is complete, and replaces all that is still to come
    endSaid_ = body.last();
    return true;
  }
  const bool waitsForTurn = session.settings.isTurnByTurn && session.talk.unanswered(way) > 0;
  if (session.talk.isBehind() || waitsForTurn || bytes_ >= kMostUnanswered) return false;
  if (form_ != BodyForm::kBufferedPartial) {
    say(call, session, way, body.bytes().text());
    return true;
  }
  if (passes_) {
    call.body->replacement().appendCopy(body.bytes(), body.bytes().size());
    if (body.last()) say(call, session, way, {});
    return true;
  }
  if (bodySaid_) return false;  // the other bytes are sent when the server has answered
  held_ += body.bytes().text();
  if (held_.size() >= kMostPartial || body.last()) say(call, session, way, held_);
  return true;
}

void BodyRelay::say(processing::Call& call, ServerSession& session, Way way, std::string piece) {
  const bool last = call.body->last();
  const bool hasTrailers = last && session.hasTrailers(call, way);
  bodySaid_ = true;
  if (!passes_ && (!piece.empty() || !hasTrailers)) {
    if (form_ == BodyForm::kStreamed) {
      pieces_.push_back(piece);
      bytes_ += sizeOf(piece);
    }
    session.talk.say(call, session.body(call, way, std::move(piece), last && !hasTrailers), answers());
  }
  if (!last) return;
  endSaid_ = true;
  if (hasTrailers) session.talk.say(call, session.trailers(call, way), answers());
  if (form_ == BodyForm::kFullDuplex) session.talk.expectMore(call, way);
}

// --- the end ---------------------------------------------------------------------------------------------------------

bool BodyRelay::isDone(const ServerSession& session, Way way) const {
  if (!endSaid_ || !decided_) return false;
  const bool inDuplex = form_ == BodyForm::kFullDuplex && bodySaid_;
  return inDuplex ? answered_ : session.talk.unanswered(way) == 0;
}

Verdict BodyRelay::finish(processing::Call& call, ServerSession& session, Way way) const {
  if (bodySaid_) call.body->replacement();  // all bytes have been answered to
  call.body->claim(0);
  session.talk.finish(way);
  return Verdict::goOn();
}

Verdict BodyRelay::goOnWithout(processing::Call& call, ServerSession& session, Way way) {
  if (form_ == BodyForm::kFullDuplex && bodySaid_) {
    // If the server has not sent the end of its body, the body must not go on as if it were complete.
    if (!answered_) return session.fail("the server ends the call while it has parts of the body");
    call.body->claim(0);
    return replace(call, session, way);
  }
  if (!held_.empty() || !pieces_.empty()) {
    base::ByteQueue& on = call.body->replacement();
    on.append(std::exchange(held_, {}));
    for (const std::string& piece : std::exchange(pieces_, {})) on.append(piece);
  }
  return passRest(call);
}

/// Passes on the bytes that have come, and lets later ones pass.
Verdict BodyRelay::passRest(processing::Call& call) {
  processing::Body& body = *call.body;
  if (body.isChanged()) body.replacement().appendCopy(body.bytes(), body.bytes().size());
  body.claim(0);
  return Verdict::goOn();
}

/// Passes on the server's body, and drops the original one.
Verdict BodyRelay::replace(processing::Call& call, ServerSession& session, Way way) {
  processing::Body& body = *call.body;
  if (std::optional<std::string>& replacement = session.of(way).replacement) {
    replaced_ = true;
    body.replacement().append(*replacement);
    replacement.reset();
  }
  if (!body.last()) return Verdict::stream();
  body.replacement();
  return Verdict::goOn();
}

}  // namespace sluice::filters::ext_proc
