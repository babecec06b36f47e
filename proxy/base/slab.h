// Objects of one type with one owner, referred to by handles that find nothing once the object is gone.
//
// Objects never move. A slot is reused with the next generation, so a handle kept by a timer, a DNS answer or a pool
// waiter can be stale but never dangling. One thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sluice::base {

/// Refers to an object of a slab. The default handle refers to none.
template <typename T>
struct Handle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0 is never given out

  bool empty() const { return generation == 0; }
  friend bool operator==(Handle, Handle) = default;

  /// Returns the handle as one integer, for libraries that carry user data.
  std::uint64_t toToken() const { return (std::uint64_t{generation} << 32) | index; }
  static Handle fromToken(std::uint64_t token) {
    return Handle{static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(token >> 32)};
  }
};

template <typename T>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    for (Slot* slot : slots_) {
      if (std::exchange(slot->live, false)) std::destroy_at(slot->object());
    }
  }

  /// Creates an object. T's constructor gets its own handle first, then args.
  template <typename... Args>
  T& create(Args&&... args) {
    if (free_.empty()) grow();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = *slots_[index];
    T* object = std::construct_at(slot.object(), Handle<T>{index, slot.generation}, std::forward<Args>(args)...);
    slot.live = true;
    ++live_;
    return *object;
  }

  /// Returns nullptr if the object is gone.
  T* find(Handle<T> handle) {
    if (handle.index >= slots_.size()) return nullptr;
    Slot& slot = *slots_[handle.index];
    return slot.live && slot.generation == handle.generation ? slot.object() : nullptr;
  }

  /// Destroys the object. The handle finds nothing from here on, not even in T's destructor.
  void destroy(Handle<T> handle) {
    T* object = find(handle);
    assert(object != nullptr);
    if (object == nullptr) return;
    Slot& slot = *slots_[handle.index];
    slot.live = false;
    std::destroy_at(object);
    if (++slot.generation == 0) slot.generation = 1;
    --live_;
    free_.push_back(handle.index);
  }

  std::size_t size() const { return live_; }

  /// Calls `visit` for every object. `visit` may create and destroy; it may or may not see the objects that it
  /// creates.
  template <typename Visit>
  void forEach(Visit&& visit) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->live) visit(*slots_[i]->object());
    }
  }

 private:
  struct Slot {
    std::uint32_t generation = 1;
    bool live = false;
    alignas(T) std::byte storage[sizeof(T)];
    T* object() { return std::launder(reinterpret_cast<T*>(storage)); }
  };
  // A page is so small that a few objects do not cost a megabyte.
  static constexpr std::size_t kSlotsPerPage = 32;

  void grow() {
    auto& page = pages_.emplace_back(std::make_unique<Slot[]>(kSlotsPerPage));
    const auto first = static_cast<std::uint32_t>(slots_.size());
    for (std::size_t i = 0; i < kSlotsPerPage; ++i) slots_.push_back(&page[i]);
    for (std::size_t i = kSlotsPerPage; i > 0; --i) free_.push_back(first + static_cast<std::uint32_t>(i - 1));
  }

  std::vector<std::unique_ptr<Slot[]>> pages_;
  std::vector<Slot*> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t live_ = 0;
};

}  // namespace sluice::base
