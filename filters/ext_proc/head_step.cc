#include "filters/ext_proc/head_step.h"

namespace sluice::filters::ext_proc {

using processing::Verdict;

Verdict HeadStep::ask(processing::Call& call, ServerSession& session, Way way) {
  Conversation& talk = session.talk;
  if (!said_) {
    if (talk.isOver() || !talk.modes.of(way).headers) return Verdict::goOn();
    talk.say(call, session.headers(call, way), Conversation::Answers::kDue);
    said_ = true;
  }
  ServerAnswer answer;
  switch (talk.hear(call, way, answer)) {
    case Conversation::Heard::kAnswer:
      return session.obey(call, answer);
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
