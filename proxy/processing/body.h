// A body as a step gets it: whole, or what of it has come since the step was last asked.
//
// A processor reads bytes(); what it wants to go on in their place it writes into change() or replacement(). Until it
// has answered, the chain keeps the bytes as they came, so that a step which fails is as if it had not been. Lives for
// one call.
#pragma once

#include <cstdint>

#include "proxy/base/byte_queue.h"

namespace sluice::processing {

/// How a step wants the body of a phase that has one (hasBody()).
enum class BodyMode : std::uint8_t {
  kNone,      // it looks at the head, once
  kStreamed,  // asked once with the head, before any byte; then for what comes, as it comes, and for the end
  kBuffered   // asked once, with all of it: what follows in the chain, and the head, wait
};

struct BodyInterest {
  BodyMode mode = BodyMode::kNone;
  /// Of kBuffered: most bytes. 0, or more than limits.processorBuffer: that.
  std::uint64_t bound = 0;
  /// It may change bytes, so that of a streamed body nobody knows the length beforehand.
  bool edits = false;
  /// It wants text: without the Content-Encoding, where that is one that can be undone.
  bool decoded = false;
  /// How many times the size of a buffered body it takes for itself while it is asked.
  std::uint32_t copies = 0;
};

class Body {
 public:
  Body(const base::ByteQueue& bytes, bool last) : bytes_(bytes), last_(last), changed_(bytes.pool()) {}

  const base::ByteQueue& bytes() const { return bytes_; }
  /// Nothing comes after them.
  bool last() const { return last_; }

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
  bool isChanged_ = false;
  base::ByteQueue changed_;
};

}  // namespace sluice::processing
