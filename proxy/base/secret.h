// Bytes that must never be shown: no stream operator, no formatter, no implicit conversion. Wiped when freed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::base {

class Secret {
 public:
  Secret() = default;
  /// Copies and wipes `bytes`, because a moved-from short string keeps its characters.
  explicit Secret(std::string bytes) : bytes_(bytes) { wipe(bytes); }
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      wipe(bytes_);
      bytes_ = other.bytes_;
    }
    return *this;
  }
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { wipe(other.bytes_); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe(bytes_);
      bytes_ = other.bytes_;
      wipe(other.bytes_);
    }
    return *this;
  }
  ~Secret() { wipe(bytes_); }

  /// Returns the bytes. This is the only access to them: a call that a reviewer can search for.
  std::string_view reveal() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  static void wipe(std::string& bytes) {
    volatile char* byte = bytes.data();
    for (std::size_t i = 0; i < bytes.size(); ++i) byte[i] = 0;
    bytes.clear();
  }

  std::string bytes_;
};

}  // namespace sluice::base
