// The key by which clients share the places at Backends.
//
// A pure function; any thread.
#pragma once

#include "proxy/base/hashing/stable_hash.h"
#include "proxy/base/terms/caller.h"
#include "proxy/net/address.h"

namespace sluice::exchange {

/// Returns a key for the caller, if it has a name, so that its share is the same wherever it calls from; else the
/// network of the client. `caller` may be null. No network equals the key of a caller: addresses that begin with ff are
/// those of multicast, which are never the source of a packet, and networkOf() uses of these only ffff.
inline net::ClientNetwork shareOf(const base::Caller* caller, net::ClientNetwork network) {
  constexpr net::ClientNetwork kOfCallers = 0xFF00'0000'0000'0000;
  constexpr int kTagBits = 9;
  // Accounts and principals have different seeds, so that a principal cannot take the share of an account by its name.
  constexpr std::uint64_t kAccounts = 1;
  constexpr std::uint64_t kPrincipals = 2;
  if (caller == nullptr) return network;
  if (!caller->serviceAccount.empty()) {
    const std::uint64_t ofNamespace = base::stableHash(caller->nameSpace, kAccounts);
    return kOfCallers | base::stableHash(caller->serviceAccount, ofNamespace) >> kTagBits;
  }
  return caller->principal.empty() ? network
                                   : kOfCallers | base::stableHash(caller->principal, kPrincipals) >> kTagBits;
}

}  // namespace sluice::exchange
