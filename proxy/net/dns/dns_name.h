// A name in the one form that is looked up: lower case, without the root's dot. Lives on the stack of a call. Internal
// to proxy/net.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::net {

class DnsName {
 public:
  /// The length as text (RFC 1035 section 2.3.4).
  static constexpr std::size_t kMaxLength = 253;

  explicit DnsName(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty() || text.size() > kMaxLength) return;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::transform(text.begin(), text.end(), bytes_.begin(), lower);
    length_ = text.size();
  }

  /// Returns the name; empty if it is too long.
  std::string_view text() const { return {bytes_.data(), length_}; }
  /// Returns true for names that may be used in a question and in a log. Underscores are not allowed in host names, but
  /// are in use.
  bool isValid() const {
    return length_ > 0 && std::all_of(bytes_.begin(), bytes_.begin() + length_, [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
           });
  }
  /// Returns true for the names of this machine for which RFC 6761 section 6.3 has no name server asked.
  bool isLocalhost() const { return text() == "localhost" || text().ends_with(".localhost"); }

 private:
  std::array<char, kMaxLength> bytes_;
  std::size_t length_ = 0;
};

}  // namespace sluice::net
