// A step that sends a body in one message, then its trailers, and waits for the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filters/ext_proc/session.h"

namespace sluice::filters::ext_proc {

/// State of the step. Its body is BodyMode::kBuffered.
class BufferedBody {
 public:
  processing::Verdict ask(processing::Call& call, ServerSession& session, Way way);

 private:
  processing::Verdict finish(processing::Call& call, ServerSession& session, Way way);

  bool bodySaid_ = false;
  bool trailersSaid_ = false;
  std::optional<std::string> answer_;  // replaces the body
};

}  // namespace sluice::filters::ext_proc
