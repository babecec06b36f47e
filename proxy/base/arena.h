// Memory that is freed all at once: an exchange's heads and everything else that lives exactly as long as the
// exchange.
//
// Bump allocation in chunks of the worker's pool, of which the first ones are small. An allocation that is
// larger than a chunk can serve comes from the heap and is freed with the rest. Movable: views into an arena stay valid
// when it moves. No destructors run. One thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proxy/base/chunk_pool.h"

namespace sluice::base {

class Arena {
 public:
  explicit Arena(ChunkPool& pool) : pool_(&pool) {}
  Arena(Arena&& other) noexcept
      : pool_(other.pool_),
        chunks_(std::exchange(other.chunks_, nullptr)),
        large_(std::exchange(other.large_, nullptr)),
        held_(std::exchange(other.held_, 0)) {}
  Arena& operator=(Arena&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(chunks_, other.chunks_);
    std::swap(large_, other.large_);
    std::swap(held_, other.held_);
    return *this;
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { clear(); }

  /// Returns `size` bytes, aligned for `alignment` (a power of two up to 16). Never null, not initialised.
  void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    assert(alignment <= 16 && (alignment & (alignment - 1)) == 0);
    if (chunks_ == nullptr || size > kLargest) return allocateElsewhere(size);
    const std::size_t start = (chunks_->end + alignment - 1) & ~(alignment - 1);
    if (start + size > chunks_->capacity) return allocateElsewhere(size);
    chunks_->end = static_cast<std::uint32_t>(start + size);
    return chunks_->data() + start;
  }

  /// Makes a T. The arena never destroys it, so the caller must if the destructor matters.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  /// Returns an uninitialised array of a trivially destructible T.
  template <typename T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }
  char* bytes(std::size_t count) { return static_cast<char*>(allocate(count, 1)); }
  /// Returns a copy that lives as long as the arena.
  std::string_view copy(std::string_view text);
  /// Returns the concatenation, copied once.
  std::string_view concat(std::string_view a, std::string_view b, std::string_view c = {});

  /// Returns how many bytes of memory the arena has taken.
  std::size_t held() const { return held_; }
  /// What an arena takes that grows a little: a small chunk and a large one.
  static constexpr std::size_t kFewBytes = Chunk::kSmallCapacity + Chunk::kCapacity;
  /// Returns true if the arena has taken no more than that.
  bool isSmall() const { return held_ <= kFewBytes; }
  /// Gives all memory back; all views into the arena become invalid.
  void clear();
  ChunkPool& pool() const { return *pool_; }

 private:
  struct Large;
  /// larger allocations come from the heap
  static constexpr std::size_t kLargest = Chunk::kCapacity / 2;
  void* allocateElsewhere(std::size_t size);

  ChunkPool* pool_;
  Chunk* chunks_ = nullptr;
  Large* large_ = nullptr;
  std::size_t held_ = 0;
};

}  // namespace sluice::base
