// The value by which consistent hashing chooses the endpoint of an exchange's attempts, and the cookie that the gateway
// makes for that. The exchange owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/exchange/session/hash_cookie.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class EndpointHash {
 public:
  /// Called for each attempt at a Backend with those terms. Reads the cookie at the first one; another Backend of the
  /// rule may have another cookie, which is read then.
  void find(const base::LoadBalancing& terms, Transaction& transaction) {
    value_.reset();
    if (terms.hashes()) findOf(terms, transaction);
  }
  /// Returns nullptr if the request has none.
  const std::uint64_t* value() const { return value_ ? &*value_ : nullptr; }
  /// Adds the cookie to the response of a Backend with those terms, if the client must send it from now on.
  void tell(const base::LoadBalancing& terms, Transaction& transaction) const {
    if (cookie_) tellOf(terms, transaction);
  }
  void reset() {
    value_.reset();
    cookie_.reset();
  }

 private:
  void findOf(const base::LoadBalancing& terms, Transaction& transaction);
  void tellOf(const base::LoadBalancing& terms, Transaction& transaction) const;

  std::optional<std::uint64_t> value_;
  std::unique_ptr<const HashCookie> cookie_;  // null unless a Backend is balanced by it
};

}  // namespace sluice::exchange
