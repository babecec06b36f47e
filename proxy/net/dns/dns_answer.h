// The name servers' answer to one question, with the terms of the question.
#pragma once

#include <string>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/base/terms/dns_terms.h"
#include "proxy/net/address.h"

namespace sluice::net {

struct DnsAnswer {
  std::string name;
  base::Result<Addresses> addresses;
  base::Duration ttl{};  // the addresses' TTL, not clamped
  bool denied = false;   // a name server answered that there is no such name, which is not a failure of the server
  base::DnsTerms terms = {};
  bool hasNoRecord = false;  // denied, although the name exists: it has no record of the type that was asked for

  bool failed() const { return !addresses.ok() && !denied; }
};

}  // namespace sluice::net
