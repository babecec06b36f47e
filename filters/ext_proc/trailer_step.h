// A step that sends the trailers of a body that the server does not get, and waits for the answer.
#pragma once

#include "filters/ext_proc/session.h"

namespace sluice::filters::ext_proc {

/// State of the step. Its body is BodyMode::kStreamed, and passes as it comes.
class TrailerStep {
 public:
  processing::Verdict ask(processing::Call& call, ServerSession& session, Way way);

 private:
  bool said_ = false;
};

}  // namespace sluice::filters::ext_proc
