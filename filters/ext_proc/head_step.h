// A step that sends the headers of a request or response, and waits for the answer.
#pragma once

#include "filters/ext_proc/session.h"

namespace sluice::filters::ext_proc {

/// State of the step.
class HeadStep {
 public:
  processing::Verdict ask(processing::Call& call, ServerSession& session, Way way);

 private:
  bool said_ = false;
};

}  // namespace sluice::filters::ext_proc
