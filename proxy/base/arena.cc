#include "proxy/base/arena.h"

#include <cassert>
#include <cstring>
#include <new>

namespace sluice::base {

struct alignas(16) Arena::Large {
  Large* next;
};

void* Arena::allocate(std::size_t size, std::size_t alignment) {
  assert(alignment <= 16 && (alignment & (alignment - 1)) == 0);
  if (size > Chunk::kCapacity / 2) {
    auto* large = static_cast<Large*>(::operator new (sizeof(Large) + size, std::align_val_t{16}));
    large->next = large_;
    large_ = large;
    return large + 1;
  }
  if (chunks_ != nullptr) {
    const std::size_t start = (chunks_->end + alignment - 1) & ~(alignment - 1);
    if (start + size <= Chunk::kCapacity) {
      chunks_->end = static_cast<std::uint32_t>(start + size);
      return chunks_->data + start;
    }
  }
  Chunk* chunk = pool_->take();
  chunk->next = chunks_;
  chunks_ = chunk;
  chunk->end = static_cast<std::uint32_t>(size);
  return chunk->data;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* to = bytes(text.size());
  std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

std::string_view Arena::concat(std::string_view a, std::string_view b, std::string_view c) {
  const std::size_t size = a.size() + b.size() + c.size();
  if (size == 0) return {};
  char* to = bytes(size);
  char* at = to;
  for (std::string_view part : {a, b, c}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return {to, size};
}

void Arena::clear() {
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    pool_->give(chunks_);
    chunks_ = next;
  }
  while (large_ != nullptr) {
    Large* next = large_->next;
    ::operator delete (large_, std::align_val_t{16});
    large_ = next;
  }
}

}  // namespace sluice::base
