#include "proxy/base/chunk_pool.h"

#include <cassert>
#include <memory>
#include <new>

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
  ASAN_POISON_MEMORY_REGION(chunk->data, Chunk::kCapacity);
#endif
}

void unpoison([[maybe_unused]] Chunk* chunk) {
#ifdef SLUICE_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(chunk->data, Chunk::kCapacity);
#endif
}

Chunk* allocate() {
  void* memory = ::operator new(sizeof(Chunk));
  auto* chunk = static_cast<Chunk*>(memory);
  // The chunk is not value-initialised: zeroing 16 KiB that will be overwritten would cost more than the chunk's use.
  chunk->next = nullptr;
  chunk->begin = chunk->end = 0;
  return chunk;
}

void release(Chunk* chunk) {
  unpoison(chunk);
  ::operator delete(chunk);
}

}  // namespace

ChunkPool::~ChunkPool() {
  assert(inUse_ == 0);
  while (free_ != nullptr) {
    Chunk* next = free_->next;
    release(free_);
    free_ = next;
  }
}

Chunk* ChunkPool::take() {
  ++inUse_;
  if (free_ == nullptr) return allocate();
  Chunk* chunk = free_;
  free_ = chunk->next;
  --freeCount_;
  unpoison(chunk);
  chunk->next = nullptr;
  chunk->begin = chunk->end = 0;
  return chunk;
}

void ChunkPool::give(Chunk* chunk) {
  assert(inUse_ > 0);
  --inUse_;
  if (freeCount_ >= keep_) {
    release(chunk);
    return;
  }
  poison(chunk);
  chunk->next = free_;
  free_ = chunk;
  ++freeCount_;
}

}  // namespace sluice::base
