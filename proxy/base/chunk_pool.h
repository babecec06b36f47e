// The free lists of the chunks that back all buffers of a worker. A buffer gives its chunks back as soon as it is
// empty.
//
// Chunks have two sizes. The heads of a request that waits, and a short body with them, need a small one each; all that
// is longer moves in large ones. One pool per worker, one thread. A chunk is always taken through ByteQueue or Arena,
// never held by hand. The pool keeps up to `keep` free large chunks, half of that memory in small ones, and gives the
// rest back to the allocator, so that a burst does not stay resident.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::base {

struct alignas(16) Chunk {
  /// Bytes that a large chunk carries: a TLS record's worth, so that one record never needs a second chunk.
  static constexpr std::size_t kCapacity = std::size_t{16} * 1024;
  /// Bytes that a small chunk carries.
  static constexpr std::size_t kSmallCapacity = std::size_t{2} * 1024;

  Chunk* next = nullptr;
  std::uint32_t begin = 0;     // first byte not yet consumed
  std::uint32_t end = 0;       // one past the last byte written
  std::uint32_t capacity = 0;  // one of the two above

  /// The bytes follow the chunk, aligned as it is.
  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  std::size_t size() const { return end - begin; }
  std::size_t room() const { return capacity - end; }
};

class ChunkPool {
 public:
  explicit ChunkPool(std::size_t keep = 256)
      : large_{.most = keep}, small_{.most = keep / 2 * (Chunk::kCapacity / Chunk::kSmallCapacity)} {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// Returns an empty large chunk. Never fails: out of memory aborts.
  Chunk* take() { return take(large_, Chunk::kCapacity); }
  Chunk* takeSmall() { return take(small_, Chunk::kSmallCapacity); }
  void give(Chunk* chunk);

  /// Returns the number of chunks in use, large and small.
  std::size_t inUse() const { return inUse_; }

 private:
  struct FreeList {
    Chunk* first = nullptr;
    std::size_t count = 0;
    std::size_t most;
  };
  Chunk* take(FreeList& list, std::size_t capacity);

  FreeList large_;
  FreeList small_;
  std::size_t inUse_ = 0;
};

}  // namespace sluice::base
