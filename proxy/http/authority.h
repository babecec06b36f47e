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
  static constexpr std::size_t kPlaces = 64;
  /// The name must not be empty. Names of one domain, and ports of one host, have different places.
  static std::size_t placeOf(std::string_view authority) {
    const auto at = [authority](std::size_t i) { return std::size_t{static_cast<unsigned char>(authority[i])}; };
    const std::size_t last = authority.size() - 1;
    return (at(0) * 7 + at(last / 2) * 5 + at(last) * 3 + last) % kPlaces;
  }

  std::array<KnownAuthority, kPlaces> places_;
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
