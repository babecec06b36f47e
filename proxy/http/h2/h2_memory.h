// nghttp2 and the HTTP/2 codecs take their small, short-lived memory from free lists by size, so that a stream in
// steady state costs no call of malloc.
//
// One per worker; outlives the worker's codecs. Blocks go back to the list of their size; the bytes in the lists are
// bounded, and others go back to the heap. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::http {

class H2Memory {
 public:
  /// `keepBytes` is the bound on unused bytes in the lists.
  explicit H2Memory(std::size_t keepBytes = 1024 * 1024) : keepBytes_(keepBytes) {}
  H2Memory(const H2Memory&) = delete;
  H2Memory& operator=(const H2Memory&) = delete;
  ~H2Memory();

  /// Returns memory that is aligned for everything. It is never null, because the process aborts when it is out of
  /// memory.
  void* allocate(std::size_t size);
  void* allocateZeroed(std::size_t count, std::size_t size);
  void* reallocate(void* memory, std::size_t size);
  void release(void* memory);

  /// While one lives, the first buffer of a whole frame that nghttp2 asks for by realloc(NULL, ...) is the one that all
  /// sessions of this memory share: 16 KiB less for each idle connection. It is a session's buffer for the frame under
  /// way; sharing it is sound because a codec's produce() copies each frame out before it returns, and no two run at
  /// once.
  class FrameBufferSharing {
   public:
    explicit FrameBufferSharing(H2Memory& memory) : memory_(memory) { memory_.sharing_ = true; }
    FrameBufferSharing(const FrameBufferSharing&) = delete;
    FrameBufferSharing& operator=(const FrameBufferSharing&) = delete;
    ~FrameBufferSharing() { memory_.sharing_ = false; }

   private:
    H2Memory& memory_;
  };

  /// Returns how often the heap was asked, which a steady state must not increase.
  std::uint64_t heapCalls() const { return heapCalls_; }
  /// Returns the number of unused bytes in the lists.
  std::size_t keptBytes() const { return keptBytes_; }

 private:
  struct MemoryBlock;
  static constexpr std::size_t kSizes = 17;  // 32, 48, 64, 96, ... 6144, 8192

  /// Kept out of allocate(), which rarely needs it.
  [[gnu::noinline]] void* fromHeap(std::size_t capacity, std::uint32_t sizeClass);
  void* sharedFrameBuffer();

  std::array<MemoryBlock*, kSizes> free_{};
  MemoryBlock* frameBuffer_ = nullptr;
  std::size_t keepBytes_;
  std::size_t keptBytes_ = 0;
  std::uint64_t heapCalls_ = 0;
  bool sharing_ = false;
};

}  // namespace sluice::http
