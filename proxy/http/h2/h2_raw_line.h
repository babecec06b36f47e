// A field line in the simplest form of HPACK, a literal that is never indexed, with its name and without Huffman's code
// (RFC 7541 section 6.2.3). It needs no table and changes none, so that this side can write it behind a block of
// nghttp2.
//
// The id of a request is sent in this way: no second line has its value, so that tables and codes cost much and save
// little. A value; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice::http {

class H2RawLine {
 public:
  /// Takes a line whose name and value may be sent. Returns false, and stays as it is, if the line is too long.
  bool set(std::string_view name, std::string_view value) {
    if (name.size() + value.size() + kOverhead > bytes_.size()) return false;
    char* at = bytes_.data();
    *at++ = kNeverIndexed;
    at = put(at, name);
    at = put(at, value);
    size_ = static_cast<std::uint8_t>(at - bytes_.data());
    return true;
  }
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  /// Returns the line as it is on the wire.
  std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  static constexpr char kNeverIndexed = 0x10;
  static constexpr std::size_t kOverhead = 3;  // the form, and both lengths, of which each is below 127

  static char* put(char* at, std::string_view text) {
    *at++ = static_cast<char>(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }

  std::uint8_t size_ = 0;
  std::array<char, 63> bytes_;
};

}  // namespace sluice::http
