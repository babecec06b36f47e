#include "filters/ext_proc/trailer_step.h"

namespace sluice::filters::ext_proc {

using processing::Verdict;

Verdict TrailerStep::ask(processing::Call& call, ServerSession& session, Way way) {
  Conversation& talk = session.talk;
  if (!said_) {
    if (talk.isOver() || call.body == nullptr || !session.hasTrailers(call, way)) return Verdict::goOn();
    talk.say(call, session.trailers(call, way), Conversation::Answers::kDue);
    said_ = true;
  }
  ServerAnswer answer;
  switch (talk.hear(call, way, answer)) {
    case Conversation::Heard::kAnswer:
      if (answer.immediate) return session.reply(*answer.immediate);
      ServerSession::changeTrailers(call, answer);
      talk.finish(way);
      return Verdict::goOn();
    case Conversation::Heard::kEnd:
      return Verdict::goOn();
    case Conversation::Heard::kFailure:
      return session.failed();
    case Conversation::Heard::kNothing:
      break;
  }
  if (auto failed = session.await(call, way, 0)) return *std::move(failed);
  return Verdict::wait();
}

}  // namespace sluice::filters::ext_proc
