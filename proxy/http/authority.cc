#include "proxy/http/authority.h"

#include <algorithm>
#include <array>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::size_t kMaxHostBytes = 255;

bool isPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  std::uint32_t value = 0;
  for (const char c : text) {
    if (!isDigit(c)) return false;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return value <= 65535;
}

// Each byte of a host has one of these bits, or none.
using Seen = std::uint8_t;
constexpr Seen kDot = 1;
constexpr Seen kUpperCase = 2;
constexpr Seen kInvalid = 4;

constexpr std::array<Seen, 256> kNameBytes = [] {
  std::array<Seen, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const char c = static_cast<char>(i);
    const bool ofLabel = i < 128 && (isAlpha(c) || isDigit(c) || c == '-' || c == '_');
    table[i] = c == '.' ? kDot : !ofLabel ? kInvalid : isUpper(c) ? kUpperCase : Seen{0};
  }
  return table;
}();

// Checks the host in one pass without branches, because the authority of each request passes here.
Seen scanRegisteredName(std::string_view name) {
  if (name.size() > kMaxHostBytes) return kInvalid;
  if (name.ends_with('.')) name.remove_suffix(1);
  unsigned seen = 0;
  unsigned before = kDot;
  for (const char c : name) {
    const unsigned kind = kNameBytes[static_cast<unsigned char>(c)];
    seen |= kind | (kind & before & kDot) * kInvalid;  // two dots in a row: an empty label
    before = kind;
  }
  return static_cast<Seen>(seen | (before & kDot) * kInvalid);
}

bool isIpv4(std::string_view text) {
  int parts = 0;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || !isPort(part) || (part.size() == 3 && part > "255")) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    text.remove_prefix(dot + 1);
  }
}

// Returns the number of groups of 16 bits in a part of an address without "::"; -1 if it is malformed. Only the last
// part may end in an IPv4 address.
int countGroups(std::string_view text, bool last) {
  if (text.empty()) return 0;
  int groups = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    if (colon == std::string_view::npos && last && isIpv4(group)) return groups + 2;
    const bool hex = std::all_of(group.begin(), group.end(), [](char c) { return hexValue(c) >= 0; });
    if (group.empty() || group.size() > 4 || !hex) return -1;
    ++groups;
    if (colon == std::string_view::npos) return groups;
    text.remove_prefix(colon + 1);
  }
}

// RFC 3986 section 3.2.2, without zones and future forms.
bool isIpv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return countGroups(text, true) == 8;
  const int before = countGroups(text.substr(0, gap), false);
  const int after = countGroups(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after <= 7;
}

Seen scanAuthority(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !isIpv6(text.substr(1, end - 1))) return kInvalid;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && (rest.front() != ':' || !isPort(rest.substr(1)))) return kInvalid;
    return std::any_of(text.begin(), text.end(), isUpper) ? kUpperCase : Seen{0};
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && !isPort(text.substr(colon + 1))) return kInvalid;
  return scanRegisteredName(text.substr(0, colon));
}

// Returns where the host ends: at the port's colon or at the end.
std::size_t hostEnd(std::string_view authority) {
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', bracket);
  return std::min(colon, authority.size());
}

/// Returns the character that "%41" and the like encode, if it is an unreserved one; 0 for all else.
char encodedUnreserved(std::string_view text) {
  if (text.size() < 3 || text.front() != '%') return 0;
  const int high = hexValue(text[1]);
  const int low = hexValue(text[2]);
  if (high < 0 || low < 0) return 0;
  const char decoded = static_cast<char>(high * 16 + low);
  return isUnreserved(decoded) ? decoded : '\0';
}

// Only a registered name may hold encodings (RFC 3986 section 3.2.2); those that are left make it invalid.
std::string_view withoutEncodings(base::Arena& arena, std::string_view authority) {
  const std::size_t end = hostEnd(authority);
  if (authority.starts_with('[') || authority.substr(0, end).find('%') == std::string_view::npos) return authority;
  char* const decoded = arena.bytes(authority.size());
  char* to = decoded;
  for (std::size_t i = 0; i < authority.size(); ++i) {
    const char c = i < end ? encodedUnreserved(authority.substr(i, 3)) : '\0';
    *to++ = c != 0 ? c : authority[i];
    if (c != 0) i += 2;
  }
  return {decoded, static_cast<std::size_t>(to - decoded)};
}

}  // namespace

base::Result<std::string_view> normalizeAuthority(base::Arena& arena, std::string_view authority,
                                                  KnownAuthorities* known) {
  if (known != nullptr && known->has(authority)) return authority;
  Seen seen = scanAuthority(authority);
  if ((seen & (kInvalid | kUpperCase)) == 0) {
    if (known != nullptr && !authority.empty()) known->remember(authority);
    return authority;
  }
  if ((seen & kInvalid) != 0) {
    authority = withoutEncodings(arena, authority);
    if (authority.ends_with(':')) authority.remove_suffix(1);
    seen = scanAuthority(authority);
  }
  if ((seen & kInvalid) != 0) return base::Error::badRequest(400, "the authority is not host[:port]");
  if ((seen & kUpperCase) == 0) return authority;
  char* lower = arena.bytes(authority.size());
  std::transform(authority.begin(), authority.end(), lower, [](char c) { return toLower(c); });
  return std::string_view{lower, authority.size()};
}

std::string_view hostOf(std::string_view authority) {
  std::string_view host = authority.substr(0, hostEnd(authority));
  if (host.size() >= 2 && host.front() == '[') return host.substr(1, host.size() - 2);
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

std::uint16_t portOf(std::string_view authority) {
  std::string_view port = authority.substr(hostEnd(authority));
  if (port.empty()) return 0;
  std::uint32_t value = 0;
  for (const char c : port.substr(1)) value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return static_cast<std::uint16_t>(value);
}

}  // namespace sluice::http
