// Bytes that must never be seen: no stream operator, no formatter, no implicit conversion. Wiped when freed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sluice::base {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      wipe();
      bytes_ = other.bytes_;
    }
    return *this;
  }
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { other.wipe(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe();
      bytes_ = other.bytes_;
      other.wipe();
    }
    return *this;
  }
  ~Secret() { wipe(); }

  /// The one way to the bytes: a call that a reviewer can search for.
  std::string_view reveal() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  void wipe() {
    volatile char* byte = bytes_.data();
    for (std::size_t i = 0; i < bytes_.size(); ++i) byte[i] = 0;
    bytes_.clear();
  }

  std::string bytes_;
};

}  // namespace sluice::base
