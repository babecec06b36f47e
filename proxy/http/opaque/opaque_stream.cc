#include "proxy/http/opaque/opaque_stream.h"

#include <algorithm>
#include <utility>

namespace sluice::http {

OpaqueStream::OpaqueStream(OpaqueEvents& events, base::ByteQueue&& ahead, const MessageBounds& limits)
    : events_(events),
      ahead_(std::move(ahead)),
      credit_(std::min(limits.firstWindow, limits.streamWindow)),
      withheld_(limits.streamWindow - credit_) {}

void OpaqueStream::open() {
  input_ = Input::kOpen;
  output_ = Output::kOpen;
  woken_ = true;
  deliverAhead();
}

void OpaqueStream::feed(std::string_view bytes) {
  switch (input_) {
    case Input::kDone:
      return;
    case Input::kIgnored:
      ignored_ += bytes.size();
      return;
    case Input::kOpen:
      if (ahead_.empty()) deliver(bytes);
      break;
    case Input::kHeld:
      break;
  }
  if (!bytes.empty()) ahead_.append(bytes);
}

void OpaqueStream::feedEnd() {
  endSeen_ = true;
  if (input_ == Input::kOpen) deliverAhead();
}

void OpaqueStream::grant(std::size_t count) {
  if (input_ != Input::kOpen) return;
  credit_ += count;
  deliverAhead();
}

void OpaqueStream::ignoreInput() {
  if (input_ == Input::kDone) return;
  input_ = Input::kIgnored;
  ahead_.clear();
}

void OpaqueStream::deliver(std::string_view& bytes) {
  const std::string_view run = bytes.substr(0, std::min(bytes.size(), credit_));
  if (run.empty()) return;
  bytes.remove_prefix(run.size());
  credit_ -= run.size();
  events_.bytesArrived(run);
}

void OpaqueStream::deliverAhead() {
  while (!ahead_.empty() && credit_ > 0) {
    std::string_view run = ahead_.front();
    const std::size_t size = run.size();
    deliver(run);
    ahead_.consume(size - run.size());
  }
  if (!endSeen_ || !ahead_.empty()) return;
  input_ = Input::kDone;
  events_.inputEnded();
}

void OpaqueStream::wake() {
  if (output_ != Output::kOpen) return;
  woken_ = true;
  const BodyPipe* pipe = events_.outputPipe();
  if (pipe == nullptr || pipe->end() == PipeEnd::kBroken) output_ = Output::kBroken;
}

void OpaqueStream::produce(base::ByteQueue& out, std::size_t limit) {
  if (output_ != Output::kOpen) return;
  BodyPipe* pipe = events_.outputPipe();
  if (pipe == nullptr) {
    output_ = Output::kOwnerless;
    return;
  }
  if (pipe->end() == PipeEnd::kBroken) {
    output_ = Output::kBroken;
    return;
  }
  const std::size_t taken = pipe->movable(out, limit);
  if (taken > 0) out.splice(pipe->bytes, taken);
  woken_ = !pipe->bytes.empty();
  if (pipe->drained()) output_ = Output::kDone;
  if (taken > 0) events_.outputTaken(taken);
}

std::size_t OpaqueStream::readBudget() const {
  if (endSeen_) return 0;
  switch (input_) {
    case Input::kHeld:
      return kReadAhead - std::min(ahead_.size(), kReadAhead);
    case Input::kOpen:
      return ahead_.empty() ? credit_ : 0;
    case Input::kIgnored:
      return kReadAhead - std::min(ignored_, kReadAhead);
    case Input::kDone:
      return 0;
  }
  return 0;
}

}  // namespace sluice::http
