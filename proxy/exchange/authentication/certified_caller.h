// The caller that the certificate of a client's connection names. Each request asks for it; the verification that
// answers is made again only when its result may have changed.
//
// While a connection lives, certificates and revocation lists expire, configurations bring other rules, and requests
// may go to listeners with rules of their own. So a verdict is kept for one set of rules, and only as long as another
// verification would have the same result. The connection owns it; one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/terms/caller.h"
#include "proxy/net/address.h"
#include "proxy/pki/peer_chain.h"
#include "proxy/pki/validity.h"
#include "proxy/routing/policy/client_validation.h"

namespace sluice::exchange {

/// The result of one verification.
struct CertificateVerdict {
  std::shared_ptr<const routing::ClientValidation> rules;  // by which it was made
  pki::Validity validity = {};
  base::MonotonicTime lookAgain = {};  // when the wall clock must be looked at
  std::string refusal = {};            // the rule that the certificate breaks; empty: it breaks none
  /// Null if the certificate breaks the rules, or if certificates name no callers.
  std::shared_ptr<const base::Caller> caller = nullptr;
  net::ClientNetwork share = 0;  // of the places at Backends: that of the caller, or of the client's network

  bool admits() const { return refusal.empty(); }
};

class CertifiedCaller {
 public:
  /// A refusal is kept for this long, so that a client that goes on costs little. That is safe: it is only refused for
  /// longer.
  static constexpr base::Duration kRefusalKept = std::chrono::seconds(10);
  /// The wall clock is looked at as often, because somebody may set it.
  static constexpr base::Duration kWallClockTrusted = std::chrono::seconds(1);
  /// The number of rules for which verdicts are kept. A client that uses more listeners on one connection, each with
  /// rules of its own, has them made again.
  static constexpr std::size_t kMostVerdicts = 4;

  /// `client` is the network of the client's address.
  CertifiedCaller(std::shared_ptr<const pki::PeerChain> chain, net::ClientNetwork client)
      : chain_(std::move(chain)), client_(client) {}
  CertifiedCaller(const CertifiedCaller&) = delete;
  CertifiedCaller& operator=(const CertifiedCaller&) = delete;

  /// The part of the last verdict that most requests need, if that verdict was good.
  struct CertificateAdmission {
    const routing::ClientValidation* rules = nullptr;  // those of the verdict, which keeps them; null: it was not good
    base::MonotonicTime until = {};
    std::shared_ptr<const base::Caller> caller = nullptr;
    net::ClientNetwork share = 0;
  };
  /// Returns the admission of the last request, if it was made by these rules and holds; else nullptr.
  const CertificateAdmission* admission(const routing::ClientValidation* rules, base::MonotonicTime now) const {
    return last_.rules == rules && now < last_.until ? &last_ : nullptr;
  }

  struct CertificateJudgement {
    const CertificateVerdict& verdict;  // until the next call
    bool anew;                          // the certificate was verified for it
  };
  /// Returns the verdict by these rules as of now.
  CertificateJudgement judge(const std::shared_ptr<const routing::ClientValidation>& rules, base::MonotonicTime now,
                             base::WallTime wall);

 private:
  CertificateVerdict verify(const std::shared_ptr<const routing::ClientValidation>& rules, base::WallTime wall) const;

  const std::shared_ptr<const pki::PeerChain> chain_;
  const net::ClientNetwork client_;
  std::vector<CertificateVerdict> verdicts_;  // of different rules, those used last first
  CertificateAdmission last_;
};

}  // namespace sluice::exchange
