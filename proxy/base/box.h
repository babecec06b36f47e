// An optional value that takes no more room than a pointer while it is absent: for members that few of many objects
// have.
//
// Copies are deep; a moved-from box is empty.
#pragma once

#include <memory>
#include <utility>

namespace sluice::base {

template <typename T>
class Box {
 public:
  Box() = default;
  Box(T value) : held_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Box(const Box& other) : held_(other ? std::make_unique<T>(*other) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Box() = default;

  /// Replaces the value, if any, by a new one.
  T& emplace() {
    held_ = std::make_unique<T>();
    return *held_;
  }
  explicit operator bool() const { return held_ != nullptr; }
  /// Requires a value.
  T& operator*() { return *held_; }
  const T& operator*() const { return *held_; }
  T* operator->() { return held_.get(); }
  const T* operator->() const { return held_.get(); }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace sluice::base
