// host[:port] in its one normal form: routes are matched by it, and SNI and the upstream's Host are made of it.
//
// Values only, in the caller's arena; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"

namespace sluice::http {

/// An authority that has passed the check of its owner, and then is not checked again.
class KnownAuthority {
 public:
  bool is(std::string_view authority) const {
    return authority.size() == size_ && size_ > 0 && std::memcmp(authority.data(), bytes_.data(), size_) == 0;
  }
  /// Keeps this one, unless it is long.
  void remember(std::string_view authority) {
    if (authority.size() > bytes_.size()) return;
    std::memcpy(bytes_.data(), authority.data(), authority.size());
    size_ = static_cast<std::uint8_t>(authority.size());
  }

 private:
  std::uint8_t size_ = 0;
  std::array<char, 47> bytes_;
};

/// Authorities that normalizeAuthority() has found to be normal: those of the requests of one worker, which mostly come
/// again. A client that names many others only makes the check run again for those whose places they take.
class KnownAuthorities {
 public:
  bool has(std::string_view authority) const { return !authority.empty() && places_[placeOf(authority)].is(authority); }
  void remember(std::string_view authority) { places_[placeOf(authority)].remember(authority); }

 private:
  static constexpr unsigned kPlaceBits = 6;
  /// The authority must not be empty. Its place depends on eight bytes each of its beginning, middle and end.
  static std::size_t placeOf(std::string_view authority) {
    std::array<std::uint64_t, 3> words{};
    constexpr std::size_t kWord = sizeof words[0];
    const std::size_t size = authority.size();
    if (size < kWord) {
      std::memcpy(words.data(), authority.data(), size);
    } else {
      std::memcpy(&words[0], authority.data(), kWord);
      std::memcpy(&words[1], authority.data() + (size - kWord) / 2, kWord);
      std::memcpy(&words[2], authority.data() + size - kWord, kWord);
    }
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
    return (((words[0] * kMix) ^ (words[1] + size)) * kMix ^ words[2]) * kMix >> (64 - kPlaceBits);
  }

  std::array<KnownAuthority, std::size_t{1} << kPlaceBits> places_;
};

/// Returns host[:port] in lower case, or an error: no userinfo, no empty host, port 0..65535, IPv6 in brackets. A
/// registered name is letters, digits, "-", "_" and single dots between them, at most 255 bytes; one dot may end it.
/// An empty port is left out, and percent-encodings of unreserved characters in a registered name are decoded once (RFC
/// 3986 sections 6.2.2.2, 6.2.3); other encodings are refused. Copies only if another spelling is left.
/// `known` may be null.
base::Result<std::string_view> normalizeAuthority(base::Arena& arena, std::string_view authority,
                                                  KnownAuthorities* known = nullptr);
/// Returns the "host" of a normal authority, without port or trailing dot; IPv6 without brackets.
std::string_view hostOf(std::string_view authority);
/// Returns 0 if it has none.
std::uint16_t portOf(std::string_view authority);

}  // namespace sluice::http
