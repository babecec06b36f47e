// Bytes waiting, first in first out, in chunks of the worker's pool; an empty queue holds no memory, and one that was
// given a few bytes holds a small chunk.
//
// Appending copies once, and ends views into the queue; moving bytes to another one relinks whole chunks. One thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/chunk_pool.h"

namespace sluice::base {

class ByteQueue {
 public:
  explicit ByteQueue(ChunkPool& pool) : pool_(&pool) {}
  ByteQueue(ByteQueue&& other) noexcept
      : pool_(other.pool_),
        first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  ByteQueue& operator=(ByteQueue&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    return *this;
  }
  ByteQueue(const ByteQueue&) = delete;
  ByteQueue& operator=(const ByteQueue&) = delete;
  ~ByteQueue() {
    if (first_ != nullptr) clear();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void append(std::string_view bytes) {
    if (last_ == nullptr || bytes.empty() || bytes.size() > last_->room()) return appendChunks(bytes);
    std::memcpy(last_->data() + last_->end, bytes.data(), bytes.size());
    commit(bytes.size());
  }
  /// Returns writable space of at least one byte behind the last one; commit() then adds the bytes written to it.
  std::span<char> prepare();
  void commit(std::size_t count) {
    assert(last_ != nullptr && count <= last_->room());
    last_->end += static_cast<std::uint32_t>(count);
    size_ += count;
  }

  /// Returns the first contiguous run; it is empty only if the queue is.
  std::string_view front() const;
  /// Fills `views` with the first runs, at most views.size() of them, and returns how many it filled in.
  std::size_t gather(std::span<std::string_view> views) const;
  /// Copies the bytes behind the first `from` ones and leaves them in the queue; returns how much of `to` it filled.
  std::size_t peek(std::size_t from, std::span<char> to) const;
  /// Calls `visit(run)` for each contiguous run, in order.
  template <typename Visit>
  void forEachRun(Visit&& visit) const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      if (chunk->size() > 0) visit(std::string_view(chunk->data() + chunk->begin, chunk->size()));
    }
  }
  /// Drops the first `count` bytes (at most size()).
  void consume(std::size_t count);
  /// Appends a copy of the first `count` bytes of `from` (at most from.size()).
  void appendCopy(const ByteQueue& from, std::size_t count);
  /// Moves the first `count` bytes of `from` (at most from.size()) to the end of this queue; whole chunks are
  /// relinked. Both queues use the same pool.
  void splice(ByteQueue& from, std::size_t count);
  void clear();
  /// Returns a copy of all bytes.
  std::string text() const;
  ChunkPool& pool() const { return *pool_; }

 private:
  void appendChunks(std::string_view bytes);
  Chunk* addChunk();
  void linkLast(Chunk* chunk);
  void dropFirst();

  ChunkPool* pool_;
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sluice::base
