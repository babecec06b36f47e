// The free list of equal chunks that back all buffers of a worker. A buffer gives its chunks back as soon as it is
// empty.
//
// One per worker, one thread. A chunk is always taken through ByteQueue or Arena, never held by hand. The pool keeps
// up to `keep` free chunks and gives the rest back to the allocator, so that a burst does not stay resident.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::base {

struct Chunk {
  /// Bytes that one chunk carries: a TLS record's worth, so that one record never needs a second chunk.
  static constexpr std::size_t kCapacity = std::size_t{16} * 1024;

  Chunk* next = nullptr;
  std::uint32_t begin = 0;  // first byte not yet consumed
  std::uint32_t end = 0;    // one past the last byte written
  alignas(16) char data[kCapacity];

  std::size_t size() const { return end - begin; }
  std::size_t room() const { return kCapacity - end; }
};

class ChunkPool {
 public:
  explicit ChunkPool(std::size_t keep = 256) : keep_(keep) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// Returns an empty chunk. Never fails: out of memory aborts.
  Chunk* take();
  void give(Chunk* chunk);

  /// Returns the number of chunks in use.
  std::size_t inUse() const { return inUse_; }

 private:
  Chunk* free_ = nullptr;
  std::size_t freeCount_ = 0;
  std::size_t inUse_ = 0;
  std::size_t keep_;
};

}  // namespace sluice::base
