// Resources that steps have taken (a place among a limited number) and that are given back when the attempt or the
// exchange that the steps ran for has ended, or before.
//
// An attempt has one Holds for the steps of its Backend, a Backend that is chosen for now one for its steps before
// authentication, and an exchange one for all other steps. The list lives in the arena of the exchange. Used on the
// thread of the exchange.
#pragma once

#include <utility>

#include "proxy/base/arena.h"

namespace sluice::processing {

class Holds {
 public:
  /// Gives `what` back. It is called once, on the thread of the exchange, while the exchange's processors still live.
  using GiveBack = void (*)(const void* what);

  Holds() = default;
  Holds(Holds&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
  Holds& operator=(Holds&& other) noexcept {
    std::swap(first_, other.first_);
    return *this;
  }
  Holds(const Holds&) = delete;
  Holds& operator=(const Holds&) = delete;
  ~Holds() { release(); }

  /// `what` belongs to the processor that adds it, or outlives it. `owner` is the key by which find() returns it; null
  /// if it is never looked for.
  void add(base::Arena& arena, const void* what, GiveBack giveBack, const void* owner = nullptr) {
    first_ = arena.make<HeldResource>(what, giveBack, owner, first_);
  }
  /// Returns the resource that was added last for that owner; nullptr if there is none.
  const void* find(const void* owner) const {
    const HeldResource* resource = first_;
    while (resource != nullptr && resource->owner != owner) resource = resource->next;
    return resource == nullptr ? nullptr : resource->what;
  }
  bool empty() const { return first_ == nullptr; }
  /// Gives `what` back before all others. Does nothing if it was never added, or is given back already.
  void release(const void* what) {
    for (HeldResource** at = &first_; *at != nullptr; at = &(*at)->next) {
      const HeldResource& found = **at;
      if (found.what != what) continue;
      *at = found.next;
      return found.giveBack(what);
    }
  }
  /// Gives everything back, the resource taken last first. The arena must still live.
  void release() {
    while (const HeldResource* resource = first_) {
      first_ = resource->next;
      resource->giveBack(resource->what);
    }
  }

 private:
  struct HeldResource {
    const void* what;
    GiveBack giveBack;
    const void* owner;
    HeldResource* next;
  };

  HeldResource* first_ = nullptr;
};

}  // namespace sluice::processing
