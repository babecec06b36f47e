// The cookie by which consistent hashing sends a client to the same endpoint (loadBalancing.hash of type Cookie).
//
// The gateway draws its value and seals it, so that clients cannot choose an endpoint. It is taken out of a request
// before a Backend that is balanced by it gets that request. The exchange owns it.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/terms/load_balancing.h"
#include "proxy/http/message.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/routing/policy/session_policy.h"

namespace sluice::exchange {

class HashCookie {
 public:
  /// `terms` have the source kCookie. Without a valid cookie in the request, the value is `random`.
  HashCookie(const base::LoadBalancing& terms, const pki::ValueSealer& sealer, std::uint64_t random,
             http::RequestMessage& request);
  /// Returns true if it is the cookie of these terms.
  bool isOf(const base::LoadBalancing& terms) const {
    return terms.source == base::HashSource::kCookie && terms.names.front() == policy_.name;
  }
  /// Removes such cookies from another copy of the head.
  void removeFrom(base::Arena& arena, http::Headers& headers) const;

  std::uint64_t hash() const;
  /// Adds the cookie to the response to a request for that path, unless the client has sent it, or would not send it
  /// for the path. `secure` is true if the client connected by TLS.
  void tell(const pki::ValueSealer& sealer, std::string_view requestPath, bool secure,
            http::ResponseMessage& response) const;

 private:
  const routing::SessionPolicy policy_;
  std::uint64_t value_;
  bool isSent_ = false;
};

}  // namespace sluice::exchange
