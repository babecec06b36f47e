#include "proxy/base/chunk_pool.h"

#include <cassert>
#include <memory>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef SLUICE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace sluice::base {
namespace {

// Lets the sanitizer find a view kept into a chunk that went back, as it would with malloc.
void poison([[maybe_unused]] Chunk* chunk) {
#ifdef SLUICE_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(chunk->data(), chunk->capacity);
#endif
}

void unpoison([[maybe_unused]] Chunk* chunk) {
#ifdef SLUICE_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(chunk->data(), chunk->capacity);
#endif
}

Chunk* allocate(std::size_t capacity) {
  auto* chunk = new (::operator new(sizeof(Chunk) + capacity)) Chunk;
  chunk->capacity = static_cast<std::uint32_t>(capacity);
  return chunk;
}

void release(Chunk* chunk) {
  unpoison(chunk);
  ::operator delete(chunk);
}

}  // namespace

ChunkPool::~ChunkPool() {
  assert(inUse_ == 0);
  for (Chunk* chunk : {large_.first, small_.first}) {
    while (chunk != nullptr) release(std::exchange(chunk, chunk->next));
  }
}

Chunk* ChunkPool::take(FreeList& list, std::size_t capacity) {
  ++inUse_;
  if (list.first == nullptr) return allocate(capacity);
  Chunk* chunk = list.first;
  list.first = chunk->next;
  --list.count;
  unpoison(chunk);
  chunk->next = nullptr;
  chunk->begin = chunk->end = 0;
  return chunk;
}

void ChunkPool::give(Chunk* chunk) {
  assert(inUse_ > 0);
  --inUse_;
  FreeList& list = chunk->capacity == Chunk::kCapacity ? large_ : small_;
  if (list.count >= list.most) {
    release(chunk);
    return;
  }
  poison(chunk);
  chunk->next = list.first;
  list.first = chunk;
  ++list.count;
}

}  // namespace sluice::base
