// The text of a body without its Content-Encoding, for a step that asks for text.
//
// The stage of the step owns it; one thread.
#pragma once

#include <optional>

#include "proxy/base/byte_queue.h"
#include "proxy/content/decoder.h"
#include "proxy/processing/pipeline_host.h"

namespace sluice::processing {

class PlainText {
 public:
  /// Looks in the head for a Content-Encoding to undo. Returns a failed verdict if there is one that the gateway cannot
  /// undo.
  std::optional<Verdict> begin(const PipelineHost& host, const StepTarget& target);
  /// Returns true if begin() has found a Content-Encoding.
  bool isNeeded() const { return needed_; }
  /// Returns the bytes that decoding takes beside the text.
  std::size_t memory() const { return decoder_ ? decoder_->memory() : 0; }
  /// Frees the decoder; nothing more is to be decoded.
  void end() { decoder_.reset(); }

  struct Yield {
    std::optional<Verdict> wrong;  // the body is not so encoded, or yields more than the limits allow
    bool more = false;             // the room is used up, and there is more text
  };
  /// Decodes `coded` into `to`, until that holds `room` bytes. Coded bytes that are used move to `taken`, unless that
  /// is null. `ended` is true if nothing follows `coded`.
  Yield decode(PipelineHost& host, base::ByteQueue& coded, bool ended, base::ByteQueue& to, std::size_t room,
               base::ByteQueue* taken = nullptr);
  /// Removes the Content-Encoding from the head of the message.
  static void strip(const StepTarget& target, const Step& step);

 private:
  bool needed_ = false;
  std::optional<content::Decoder> decoder_;  // until end()
};

}  // namespace sluice::processing
