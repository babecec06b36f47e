// The addresses of one connection, in the order in which it dials them until one answers.
//
// A value, owned by the connection.
#pragma once

#include <cstddef>
#include <utility>

#include "proxy/net/address.h"

namespace sluice::upstream {

class DialOrder {
 public:
  /// `addresses` is not empty.
  explicit DialOrder(net::Addresses addresses) : addresses_(std::move(addresses)) {}

  const net::Address& current() const { return addresses_[at_]; }
  bool hasNext() const { return at_ + 1 < addresses_.size(); }
  /// Makes the next address the current one. Behind the last address there is no current one until seek() is called.
  void advance() { ++at_; }
  /// Makes the first address from the current one on that `permits` accepts the current one. Returns false if there is
  /// none; the last address is the current one then.
  template <typename Permits>
  bool seek(Permits&& permits) {
    for (; at_ < addresses_.size(); ++at_) {
      if (permits(addresses_[at_])) return true;
    }
    at_ = addresses_.size() - 1;
    return false;
  }

 private:
  const net::Addresses addresses_;
  std::size_t at_ = 0;
};

}  // namespace sluice::upstream
