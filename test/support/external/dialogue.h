// What a server says on one connection, without the connection: bytes in, bytes out. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "proxy/base/byte_queue.h"

namespace sluice::external {

class Dialogue {
 public:
  virtual ~Dialogue() = default;
  /// Takes what the peer says. The view is valid during the call only.
  virtual void feed(std::string_view bytes) = 0;
  /// Appends what is to be said: everything, or at least `most` bytes of it.
  virtual void produce(base::ByteQueue& out, std::size_t most) = 0;
  /// Returns true if nothing is said or heard after what produce() still gives.
  virtual bool isOver() const = 0;
};

/// Makes the dialogue of a new connection; its queues take their memory from `pool`. The dialogues may refer to their
/// maker, which outlives them.
using MakeDialogue = std::function<std::unique_ptr<Dialogue>(base::ChunkPool& pool)>;

}  // namespace sluice::external
