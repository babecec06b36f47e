#include "proxy/base/arena.h"

#include <cassert>
#include <cstring>
#include <new>

namespace sluice::base {
namespace {

// An arena that has taken this much takes large chunks from then on. Most heads need less.
constexpr std::size_t kMostInSmallChunks = Chunk::kCapacity / 2;

}  // namespace

struct alignas(16) Arena::Large {
  Large* next;
  std::size_t size;
};

void* Arena::allocateElsewhere(std::size_t size) {
  if (size > kLargest) {
    auto* large = static_cast<Large*>(::operator new (sizeof(Large) + size, std::align_val_t{16}));
    held_ += size;
    large->next = large_;
    large->size = size;
    large_ = large;
    return large + 1;
  }
  const bool fewBytes = size <= Chunk::kSmallCapacity && held_ < kMostInSmallChunks;
  Chunk* chunk = fewBytes ? pool_->takeSmall() : pool_->take();
  held_ += chunk->capacity;
  chunk->next = chunks_;
  chunks_ = chunk;
  chunk->end = static_cast<std::uint32_t>(size);
  return chunk->data();
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
  held_ = 0;
}

}  // namespace sluice::base
