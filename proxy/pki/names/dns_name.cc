#include "proxy/pki/names/dns_name.h"

#include <algorithm>

namespace sluice::pki {

bool dnsNameMatches(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return !pattern.empty() && pattern == host;
  const std::string_view parent = pattern.substr(1);  // ".example.com"
  // A wildcard right below a top-level domain, or a second star, would cover names that no one can own.
  if (parent.find('.', 1) == std::string_view::npos || parent.find('*') != std::string_view::npos) return false;
  const std::size_t dot = host.find('.');
  return dot != std::string_view::npos && dot > 0 && host.substr(dot) == parent;
}

bool wildcardMatchesUnderscore(std::string_view pattern, std::string_view host) {
  const std::string_view label = host.substr(0, host.find('.'));
  const bool isLabel = std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return isLabel && label.find('_') != std::string_view::npos && pattern.starts_with("*.") &&
         dnsNameMatches(pattern, host);
}

}  // namespace sluice::pki
