// What steps have taken and give back when the thing that they ran for has ended: a place among a limited number.
//
// One in an Attempt, for the steps of its Backend; one in an exchange, for all others. Entries live in the arena of the
// exchange. One thread, that of the exchange.
#pragma once

#include <new>
#include <utility>

#include "proxy/base/arena.h"

namespace sluice::processing {

class Holds {
 public:
  /// Gives `what` back. Runs once, on the thread of the exchange, while its processors still live.
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

  /// `what` belongs to the processor that adds it, or outlives it.
  void add(base::Arena& arena, const void* what, GiveBack giveBack) {
    first_ = new (arena.allocate(sizeof(Entry), alignof(Entry))) Entry{what, giveBack, first_};
  }
  bool empty() const { return first_ == nullptr; }
  /// The last that was taken goes first. The arena still lives.
  void release() {
    while (const Entry* entry = first_) {
      first_ = entry->next;
      entry->giveBack(entry->what);
    }
  }

 private:
  struct Entry {
    const void* what;
    GiveBack giveBack;
    const Entry* next;
  };

  const Entry* first_ = nullptr;
};

}  // namespace sluice::processing
