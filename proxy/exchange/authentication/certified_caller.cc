#include "proxy/exchange/authentication/certified_caller.h"

#include <algorithm>

#include "proxy/exchange/transaction/fair_share.h"
#include "proxy/pki/caller_names.h"

namespace sluice::exchange {

CertifiedCaller::CertificateJudgement CertifiedCaller::judge(
    const std::shared_ptr<const routing::ClientValidation>& rules, base::MonotonicTime now, base::WallTime wall) {
  const auto found = std::find_if(verdicts_.begin(), verdicts_.end(),
                                  [&](const CertificateVerdict& each) { return each.rules == rules; });
  const bool anew = found == verdicts_.end() || !found->validity.covers(wall);
  if (!anew) {
    std::rotate(verdicts_.begin(), found, found + 1);
  } else {
    if (found != verdicts_.end()) {
      verdicts_.erase(found);
    } else if (verdicts_.size() == kMostVerdicts) {
      verdicts_.pop_back();
    }
    verdicts_.insert(verdicts_.begin(), verify(rules, wall));
  }
  CertificateVerdict& verdict = verdicts_.front();
  verdict.lookAgain = now + std::min<base::Duration>(kWallClockTrusted, verdict.validity.until - wall);
  last_ = verdict.admits() ? CertificateAdmission{rules.get(), verdict.lookAgain, verdict.caller, verdict.share}
                           : CertificateAdmission();
  return {verdict, anew};
}

CertificateVerdict CertifiedCaller::verify(const std::shared_ptr<const routing::ClientValidation>& rules,
                                           base::WallTime wall) const {
  CertificateVerdict verdict{.rules = rules};
  const base::Result<pki::Validity> result = rules->rules->verify(*chain_, wall);
  if (!result.ok()) {
    verdict.validity.until = wall + kRefusalKept;
    verdict.refusal = result.error().detail;
    return verdict;
  }
  verdict.validity = *result;
  if (rules->namesCallers) {
    verdict.caller = std::make_shared<const base::Caller>(pki::callerOf(*chain_, rules->trustDomains));
  }
  verdict.share = shareOf(verdict.caller.get(), client_);
  return verdict;
}

}  // namespace sluice::exchange
