// The key of a name in caches: the name alone, or with the terms on which it is looked up. Lives on the stack of a
// call. Internal to proxy/net.
#pragma once

#include <string>
#include <string_view>

#include "proxy/base/terms/dns_terms.h"

namespace sluice::net {

class DnsKey {
 public:
  /// `name` outlives it.
  DnsKey(std::string_view name, const base::DnsTerms& terms) : name_(name) {
    if (terms == base::DnsTerms()) return;
    // A name contains no space.
    withTerms_ = std::string(name) + (terms.ofClients() ? " client " : " ") +
                 std::to_string(static_cast<int>(terms.family)) + (terms.respectTtl ? " ttl" : "") +
                 (terms.refreshRate ? " " + std::to_string(terms.refreshRate->count()) : "");
  }

  std::string_view text() const { return withTerms_.empty() ? name_ : std::string_view(withTerms_); }

 private:
  std::string_view name_;
  std::string withTerms_;  // empty for a name alone
};

}  // namespace sluice::net
