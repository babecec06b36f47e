// The objects of one owner that take part in its worker's beat: they are marked when they have something to do,
// flushed together, and destroyed when they are dead.
//
// T has handle(), flush(), dead() and a public `bool dirty = false` that belongs to the table. One thread.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "proxy/base/slab.h"

namespace sluice::base {

template <typename T>
class BeatTable {
 public:
  /// Creates an object. T's constructor gets its own handle first, then args; it may mark itself.
  template <typename... Args>
  T& create(Args&&... args) {
    return objects_.create(std::forward<Args>(args)...);
  }
  void destroy(T& object) { objects_.destroy(object.handle()); }
  T* find(Handle<T> handle) { return objects_.find(handle); }
  std::size_t size() const { return objects_.size(); }
  template <typename Visit>
  void forEach(Visit&& visit) {
    objects_.forEach(visit);
  }

  void mark(T& object) {
    if (!std::exchange(object.dirty, true)) dirty_.push_back(object.handle());
  }

  /// Visits the marked objects, including those that are marked meanwhile. They stay marked until flush().
  template <typename Visit>
  void drive(Visit&& visit) {
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
      if (T* object = objects_.find(dirty_[i])) visit(*object);
    }
  }
  void flush() {
    batch_.swap(dirty_);
    for (const Handle<T> handle : batch_) {
      T* object = objects_.find(handle);
      if (object == nullptr) continue;
      object->dirty = false;
      object->flush();
      if (object->dead()) dead_.push_back(handle);
    }
    batch_.clear();
  }
  /// Destroys the dead objects and calls `gone` for each of them.
  template <typename Gone>
  void reap(Gone&& gone) {
    for (const Handle<T> handle : dead_) {
      if (objects_.find(handle) == nullptr) continue;
      objects_.destroy(handle);
      gone();
    }
    dead_.clear();
  }
  void reap() {
    reap([] {});
  }
  bool quiet() const { return dirty_.empty() && dead_.empty(); }

  /// Destroys all objects, dead or not.
  void clear() {
    objects_.forEach([this](T& object) { objects_.destroy(object.handle()); });
    dirty_.clear();
    dead_.clear();
  }

 private:
  Slab<T> objects_;
  std::vector<Handle<T>> dirty_;
  std::vector<Handle<T>> batch_;  // keeps its capacity
  std::vector<Handle<T>> dead_;
};

}  // namespace sluice::base
