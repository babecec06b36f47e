#include "filters/ext_proc/buffered_body.h"

#include <utility>

namespace sluice::filters::ext_proc {

using processing::Verdict;

Verdict BufferedBody::ask(processing::Call& call, ServerSession& session, Way way) {
  Conversation& talk = session.talk;
  if (!bodySaid_) {
    if (talk.isOver() || session.of(way).ended || !ServerSession::hasBody(call)) return Verdict::goOn();
    const bool ends = !session.hasTrailers(call, way);
    talk.say(call, session.body(call, way, call.body->bytes().text(), ends), Conversation::Answers::kDue);
    bodySaid_ = true;
  }
  while (true) {
    ServerAnswer answer;
    switch (talk.hear(call, way, answer)) {
      case Conversation::Heard::kEnd:
        return finish(call, session, way);
      case Conversation::Heard::kFailure:
        return session.failed();
      case Conversation::Heard::kNothing: {
        if (auto failed = session.await(call, way, answer_ ? answer_->size() : 0)) return *std::move(failed);
        return Verdict::wait();
      }
      case Conversation::Heard::kAnswer:
        break;
    }
    if (answer.immediate) return session.reply(*answer.immediate);
    if (trailersSaid_) {
      ServerSession::changeTrailers(call, answer);
      return finish(call, session, way);
    }
    const Verdict verdict = session.obey(call, answer);
    if (verdict.kind() != Verdict::Kind::kContinue) return verdict;
    answer_ = std::move(answer.part->body);
    if (!session.hasTrailers(call, way)) return finish(call, session, way);
    talk.say(call, session.trailers(call, way), Conversation::Answers::kDue);
    trailersSaid_ = true;
  }
}

Verdict BufferedBody::finish(processing::Call& call, ServerSession& session, Way way) {
  session.talk.finish(way);
  if (!answer_) return Verdict::goOn();
  if (!call.body->claim(answer_->size())) {
    return session.fail("the gateway has no room for the body that the server gives", processing::Cause::kNoRoom);
  }
  call.body->replacement().append(*std::exchange(answer_, std::nullopt));
  call.body->claim(0);
  return Verdict::goOn();
}

}  // namespace sluice::filters::ext_proc
