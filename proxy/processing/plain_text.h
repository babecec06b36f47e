// A body without its Content-Encoding, for a step that asks for text.
//
// Owned by the step's stage; one thread.
#pragma once

#include <optional>

#include "proxy/base/byte_queue.h"
#include "proxy/content/decoder.h"
#include "proxy/processing/pipeline_host.h"

namespace sluice::processing {

class PlainText {
 public:
  /// Looks at the head: whether there is anything to undo. A failed verdict if nobody here can.
  std::optional<Verdict> begin(const PipelineHost& host, const StepTarget& target);
  /// begin() has found something.
  bool isNeeded() const { return needed_; }
  /// Returns the bytes that decoding takes beside the text.
  std::size_t memory() const { return decoder_ ? decoder_->memory() : 0; }
  /// Ends it: nothing more is to be decoded.
  void end() { decoder_.reset(); }

  struct Yield {
    std::optional<Verdict> wrong;  // it is no such body, or yields more than the limits allow
    bool more = false;             // the room is used up; there is more to be had
  };
  /// Puts what `coded` yields into `to`, until that holds `room`; what was taken of it moves to `taken`, if that is not
  /// null. `ended`: nothing follows.
  Yield decode(PipelineHost& host, base::ByteQueue& coded, bool ended, base::ByteQueue& to, std::size_t room,
               base::ByteQueue* taken = nullptr);
  /// From here on the message has no Content-Encoding.
  static void strip(const StepTarget& target, const Step& step);

 private:
  bool needed_ = false;
  std::optional<content::Decoder> decoder_;  // until end()
};

}  // namespace sluice::processing
