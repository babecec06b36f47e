// A body as a step gets it: whole, or what of it has come since the step was last asked.
//
// A processor reads bytes(); what it wants to go on in their place it writes into change() or replacement(). Until it
// has answered, the chain keeps the bytes as they came, so that a step which fails is as if it had not been. Lives for
// one call.
#pragma once

#include <cstdint>

#include "proxy/base/byte_queue.h"
#include "proxy/processing/buffer_budget.h"

namespace sluice::processing {

/// How a step wants the body of a phase that has one (hasBody()).
enum class BodyMode : std::uint8_t {
  kNone,      // it looks at the head, once
  kStreamed,  // asked once with the head, before any byte; then for what comes, as it comes, and for the end
  kBuffered,  // asked once, with all of it: what follows in the chain, and the head, wait
  kInspected  // asked for what comes, as it comes, and for the end, and changes nothing: the same wait until then
};

struct BodyInterest {
  BodyMode mode = BodyMode::kNone;
  /// Bounds the bytes of kBuffered and kInspected, as they come and as text. 0 stands for limits.processorBuffer, which
  /// bounds them in any case.
  std::uint64_t bound = 0;
  /// It may change bytes, so that of a streamed body nobody knows the length beforehand.
  bool edits = false;
  /// It wants text: without the Content-Encoding, where that is one that can be undone.
  bool decoded = false;
};

class Body {
 public:
  Body(const base::ByteQueue& bytes, bool last) : bytes_(bytes), last_(last), changed_(bytes.pool()) {}
  /// The chain holds `held` bytes of it, for which `share` has room, and the processor `claimed`.
  Body(const base::ByteQueue& bytes, bool last, BufferShare& share, std::uint64_t held, std::uint64_t claimed)
      : Body(bytes, last) {
    share_ = &share;
    held_ = held;
    claimed_ = claimed;
  }

  const base::ByteQueue& bytes() const { return bytes_; }
  /// Nothing comes after them.
  bool last() const { return last_; }

  /// Called by a processor that holds `bytes` in all because of this body: they come out of limits.processorBufferTotal
  /// too. False: there is no room for them; it then fails with Cause::kNoRoom.
  bool claim(std::uint64_t bytes) {
    claimed_ = bytes;
    return share_ == nullptr || share_->reach(held_ + bytes);
  }
  std::uint64_t claimed() const { return claimed_; }

  /// A copy of the bytes to be edited.
  base::ByteQueue& change() {
    if (!isChanged_) changed_.appendCopy(bytes_, bytes_.size());
    isChanged_ = true;
    return changed_;
  }
  /// Nothing of the bytes goes on, but what is put in here.
  base::ByteQueue& replacement() {
    if (!isChanged_) changed_.clear();
    isChanged_ = true;
    return changed_;
  }
  bool isChanged() const { return isChanged_; }
  base::ByteQueue&& takeChanged() { return std::move(changed_); }

 private:
  const base::ByteQueue& bytes_;
  const bool last_;
  BufferShare* share_ = nullptr;
  std::uint64_t held_ = 0;
  std::uint64_t claimed_ = 0;
  bool isChanged_ = false;
  base::ByteQueue changed_;
};

}  // namespace sluice::processing
