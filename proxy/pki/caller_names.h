// The caller that a verified certificate of a client names.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/terms/caller.h"
#include "proxy/pki/peer_chain.h"

namespace sluice::pki {

/// The principal is the SPIFFE ID if the certificate has exactly one URI and that is one, else the first URI, DNS name
/// or the subject. It has at most 2,048 bytes of printable ASCII: what has more or other ones is passed over, and so is
/// a URI of SPIFFE's scheme that is no valid ID or not the only URI, because nobody may be taken for its bearer. A
/// SPIFFE ID of one of the trust domains whose path is /ns/NAMESPACE/sa/ACCOUNT names both; one of another trust domain
/// does not. The assurance is kCertificate.
base::Caller callerOf(const PeerChain& chain, const std::vector<std::string>& trustDomains);

}  // namespace sluice::pki
