// A body as a step gets it: the whole body, or the part that has come since the step was last asked.
//
// A processor reads bytes(), and writes the bytes that are to go on in their place into change() or replacement().
// Until it has answered, the pipeline keeps the bytes as they came, so that a step that fails leaves no trace. A Body
// lives for one call.
#pragma once

#include <cstdint>

#include "proxy/base/byte_queue.h"
#include "proxy/http/message.h"
#include "proxy/processing/buffer_budget.h"

namespace sluice::processing {

/// How a step wants the body of a phase that has one (hasBody()).
enum class BodyMode : std::uint8_t {
  kNone,       // the step looks at the head, once
  kStreamed,   // the step is asked with the head, before any byte; then for each piece as it comes, and for the end
  kBuffered,   // the step is asked once, with the whole body; the head and all later steps wait for that
  kInspected,  // the step sees each piece as it comes, and the end, and changes nothing; head and later steps wait
  kSearched,   // does the same up to the bound. A longer body is cut for the step, and its rest goes on unseen
  /// The step takes bytes and gives bytes in its own time: it is asked about the head, for each piece as it comes, for
  /// the end, and whenever it is resumed. See Verdict::hold() and Verdict::stream(). It gets the bytes as they come,
  /// never as text.
  kDuplex
};

/// Returns true if the step works on the body while it is on its way, without waiting for its end.
constexpr bool isTakenAsItFlows(BodyMode mode) { return mode == BodyMode::kStreamed || mode == BodyMode::kDuplex; }

/// Returns true if the step looks at the body while it waits, and changes nothing.
constexpr bool isInspected(BodyMode mode) { return mode == BodyMode::kInspected || mode == BodyMode::kSearched; }

struct BodyInterest {
  BodyMode mode = BodyMode::kNone;
  /// Bounds the bytes of kBuffered, kInspected and kSearched, as they come and as text. 0 means limits.processorBuffer,
  /// which bounds them in any case.
  std::uint64_t bound = 0;
  /// True if the step may change bytes; the length of a streamed body is then not known beforehand.
  bool edits = false;
  /// True if the step wants text: the body without its Content-Encoding, if that is one that can be undone.
  bool decoded = false;
};

class Body {
 public:
  Body(const base::ByteQueue& bytes, bool last) : bytes_(bytes), last_(last), changed_(bytes.pool()) {}
  /// `held` is the number of bytes of this body in the pipeline, `claimed` the number of bytes that the processor keeps
  /// because of it; `share` has room for both.
  Body(const base::ByteQueue& bytes, bool last, BufferShare& share, std::uint64_t held, std::uint64_t claimed)
      : Body(bytes, last) {
    share_ = &share;
    held_ = held;
    claimed_ = claimed;
  }

  const base::ByteQueue& bytes() const { return bytes_; }
  /// Returns true if the step sees nothing after bytes().
  bool last() const { return last_; }
  /// Returns true if the body goes on behind its last() bytes, because the step only searches the beginning.
  bool isCut() const { return isCut_; }
  void cut() { isCut_ = true; }

  /// Returns the trailers behind the body; nullptr if there are none, or it is not last(). A step may change them.
  http::Trailers* trailers() const { return trailers_; }
  void setTrailers(http::Trailers* behind) { trailers_ = behind; }

  /// Called by a processor that keeps `bytes` in all because of this body; they are charged to
  /// limits.processorBufferTotal, too. Returns false if there is no room for them; the processor then fails with
  /// Cause::kNoRoom.
  bool claim(std::uint64_t bytes) {
    claimed_ = bytes;
    return share_ == nullptr || share_->reach(held_ + bytes);
  }
  std::uint64_t claimed() const { return claimed_; }

  /// Returns a copy of the bytes, to be edited.
  base::ByteQueue& change() {
    if (!isChanged_) changed_.appendCopy(bytes_, bytes_.size());
    isChanged_ = true;
    return changed_;
  }
  /// Returns a queue, empty at first, whose content goes on in the place of the bytes.
  base::ByteQueue& replacement() {
    if (!isChanged_) changed_.clear();
    isChanged_ = true;
    return changed_;
  }
  bool isChanged() const { return isChanged_; }
  /// Returns the number of bytes in change() or replacement() so far.
  std::size_t replacementSize() const { return isChanged_ ? changed_.size() : 0; }
  base::ByteQueue&& takeChanged() { return std::move(changed_); }

 private:
  const base::ByteQueue& bytes_;
  const bool last_;
  bool isCut_ = false;
  http::Trailers* trailers_ = nullptr;
  BufferShare* share_ = nullptr;
  std::uint64_t held_ = 0;
  std::uint64_t claimed_ = 0;
  bool isChanged_ = false;
  base::ByteQueue changed_;
};

}  // namespace sluice::processing
