#include "proxy/base/byte_queue.h"

#include <algorithm>
#include <cassert>

namespace sluice::base {

void ByteQueue::appendChunks(std::string_view bytes) {
  // Most bodies that wait are short, and came at once.
  if (last_ == nullptr && !bytes.empty() && bytes.size() <= Chunk::kSmallCapacity) {
    linkLast(pool_->takeSmall());
    return append(bytes);
  }
  while (!bytes.empty()) {
    const std::span<char> room = prepare();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    commit(count);
    bytes.remove_prefix(count);
  }
}

std::span<char> ByteQueue::prepare() {
  // A small chunk, which is always the only one, becomes a large one: runs that fill large chunks can be relinked.
  if (last_ != nullptr && last_->capacity == Chunk::kSmallCapacity) {
    Chunk* small = std::exchange(first_, pool_->take());
    last_ = first_;
    last_->end = static_cast<std::uint32_t>(small->size());
    std::memcpy(last_->data(), small->data() + small->begin, small->size());
    pool_->give(small);
  }
  Chunk* chunk = last_ != nullptr && last_->room() > 0 ? last_ : addChunk();
  return {chunk->data() + chunk->end, chunk->room()};
}

std::string_view ByteQueue::front() const {
  for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
    if (chunk->size() > 0) return {chunk->data() + chunk->begin, chunk->size()};
  }
  return {};
}

std::size_t ByteQueue::gather(std::span<std::string_view> views) const {
  std::size_t count = 0;
  for (const Chunk* chunk = first_; chunk != nullptr && count < views.size(); chunk = chunk->next) {
    if (chunk->size() > 0) views[count++] = {chunk->data() + chunk->begin, chunk->size()};
  }
  return count;
}

std::size_t ByteQueue::peek(std::size_t from, std::span<char> to) const {
  std::size_t copied = 0;
  for (const Chunk* chunk = first_; chunk != nullptr && copied < to.size(); chunk = chunk->next) {
    const std::size_t skipped = std::min(from, chunk->size());
    const std::size_t here = std::min(chunk->size() - skipped, to.size() - copied);
    std::copy_n(chunk->data() + chunk->begin + skipped, here, to.data() + copied);
    from -= skipped;
    copied += here;
  }
  return copied;
}

void ByteQueue::appendCopy(const ByteQueue& from, std::size_t count) {
  assert(count <= from.size_);
  for (const Chunk* chunk = from.first_; count > 0; chunk = chunk->next) {
    const std::size_t here = std::min(count, chunk->size());
    append({chunk->data() + chunk->begin, here});
    count -= here;
  }
}

std::string ByteQueue::text() const {
  std::string result;
  result.reserve(size_);
  for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
    result.append(chunk->data() + chunk->begin, chunk->size());
  }
  return result;
}

void ByteQueue::consume(std::size_t count) {
  assert(count <= size_);
  size_ -= count;
  while (count > 0) {
    const std::size_t here = std::min(count, first_->size());
    first_->begin += static_cast<std::uint32_t>(here);
    count -= here;
    if (first_->size() == 0) dropFirst();
  }
  if (size_ == 0) clear();
}

void ByteQueue::splice(ByteQueue& from, std::size_t count) {
  assert(pool_ == from.pool_ && this != &from && count <= from.size_);
  while (count > 0) {
    Chunk* chunk = from.first_;
    const std::size_t here = chunk->size();
    if (here == 0) {  // prepared, but never committed
      from.dropFirst();
      continue;
    }
    // A short run is copied behind the last one, so that many small pieces do not hold a chunk each.
    const bool isShort = here <= Chunk::kCapacity / 8;
    const bool fits = last_ != nullptr && (here <= last_->room() || chunk->capacity == Chunk::kSmallCapacity);
    const bool copy = here > count || (isShort && fits);
    if (copy) {
      const std::size_t part = std::min(here, count);
      append({chunk->data() + chunk->begin, part});
      from.consume(part);
      count -= part;
      continue;
    }
    from.first_ = chunk->next;
    if (from.first_ == nullptr) from.last_ = nullptr;
    from.size_ -= here;
    linkLast(chunk);
    size_ += here;
    count -= here;
  }
  if (from.size_ == 0) from.clear();
}

void ByteQueue::clear() {
  while (first_ != nullptr) dropFirst();
  size_ = 0;
}

Chunk* ByteQueue::addChunk() {
  Chunk* chunk = pool_->take();
  linkLast(chunk);
  return chunk;
}

void ByteQueue::linkLast(Chunk* chunk) {
  chunk->next = nullptr;
  if (last_ == nullptr) {
    first_ = last_ = chunk;
  } else {
    last_->next = chunk;
    last_ = chunk;
  }
}

void ByteQueue::dropFirst() {
  Chunk* chunk = first_;
  first_ = chunk->next;
  if (first_ == nullptr) last_ = nullptr;
  pool_->give(chunk);
}

}  // namespace sluice::base
