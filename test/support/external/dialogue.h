// The protocol of a server on one connection, without the connection: bytes in, bytes out. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "proxy/base/byte_queue.h"

namespace sluice::external {

class Dialogue {
 public:
  virtual ~Dialogue() = default;
  /// Takes the peer's bytes. The view is valid during the call only.
  virtual void feed(std::string_view bytes) = 0;
  /// Appends the bytes that are to be sent: all of them, or at least `most`.
  virtual void produce(base::ByteQueue& out, std::size_t most) = 0;
  /// Returns true if nothing is sent or read after the bytes that produce() still returns.
  virtual bool isOver() const = 0;
};

/// Makes the dialogue of a new connection; its queues take their memory from `pool`. The dialogues may refer to their
/// maker, which outlives them.
using MakeDialogue = std::function<std::unique_ptr<Dialogue>(base::ChunkPool& pool)>;

}  // namespace sluice::external
