#include "proxy/http/h2/h2_memory.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace sluice::http {
namespace {

constexpr std::size_t kSmallest = 32;
constexpr std::size_t kLargest = 8192;
// nghttp2 takes a frame's header, payload and padding length for the frame under way.
constexpr std::size_t kFrameBuffer = 9 + 1 + 16384;

constexpr std::uint32_t kFromHeap = 0xffff;  // too large for a list
constexpr std::uint32_t kShared = 0xfffe;

constexpr std::size_t capacityOf(std::uint32_t sizeClass) {
  return sizeClass % 2 == 0 ? kSmallest << (sizeClass / 2) : (kSmallest * 3 / 2) << (sizeClass / 2);
}

// Every capacity is a multiple of this.
constexpr std::size_t kGrain = kSmallest / 2;

// Returns the smallest class that holds that many grains.
constexpr std::array<std::uint8_t, kLargest / kGrain + 1> kClasses = [] {
  std::array<std::uint8_t, kLargest / kGrain + 1> table{};
  std::uint8_t sizeClass = 0;
  for (std::size_t grains = 0; grains < table.size(); ++grains) {
    if (grains * kGrain > capacityOf(sizeClass)) ++sizeClass;
    table[grains] = sizeClass;
  }
  return table;
}();

std::uint32_t classOf(std::size_t size) { return kClasses[(size + kGrain - 1) / kGrain]; }

}  // namespace

struct alignas(16) H2Memory::MemoryBlock {
  MemoryBlock* next;  // while it lies in a list
  std::uint32_t capacity;
  std::uint32_t sizeClass;

  void* payload() { return this + 1; }
  static MemoryBlock* of(void* memory) { return static_cast<MemoryBlock*>(memory) - 1; }
};

H2Memory::~H2Memory() {
  for (MemoryBlock* list : free_) {
    while (list != nullptr) std::free(std::exchange(list, list->next));
  }
  std::free(frameBuffer_);
}

void* H2Memory::fromHeap(std::size_t capacity, std::uint32_t sizeClass) {
  if (capacity > UINT32_MAX) std::abort();
  auto* block = static_cast<MemoryBlock*>(std::malloc(sizeof(MemoryBlock) + capacity));
  if (block == nullptr) std::abort();
  ++heapCalls_;
  block->capacity = static_cast<std::uint32_t>(capacity);
  block->sizeClass = sizeClass;
  return block->payload();
}

void* H2Memory::allocate(std::size_t size) {
  if (size > kLargest) return fromHeap(size, kFromHeap);
  const std::uint32_t sizeClass = classOf(size);
  MemoryBlock* block = free_[sizeClass];
  if (block == nullptr) return fromHeap(capacityOf(sizeClass), sizeClass);
  free_[sizeClass] = block->next;
  keptBytes_ -= block->capacity;
  return block->payload();
}

void* H2Memory::allocateZeroed(std::size_t count, std::size_t size) {
  if (size != 0 && count > SIZE_MAX / size) std::abort();
  void* memory = allocate(count * size);
  std::memset(memory, 0, count * size);
  return memory;
}

void* H2Memory::reallocate(void* memory, std::size_t size) {
  if (memory == nullptr) return sharing_ && size == kFrameBuffer ? sharedFrameBuffer() : allocate(size);
  const MemoryBlock* block = MemoryBlock::of(memory);
  if (size <= block->capacity) return memory;
  void* larger = allocate(size);
  std::memcpy(larger, memory, block->capacity);
  release(memory);
  return larger;
}

void H2Memory::release(void* memory) {
  if (memory == nullptr) return;
  MemoryBlock* block = MemoryBlock::of(memory);
  if (block->sizeClass == kShared) return;
  if (block->sizeClass == kFromHeap || keptBytes_ + block->capacity > keepBytes_) {
    std::free(block);
    return;
  }
  keptBytes_ += block->capacity;
  block->next = std::exchange(free_[block->sizeClass], block);
}

void* H2Memory::sharedFrameBuffer() {
  sharing_ = false;
  if (frameBuffer_ == nullptr) frameBuffer_ = MemoryBlock::of(fromHeap(kFrameBuffer, kShared));
  return frameBuffer_->payload();
}

}  // namespace sluice::http
