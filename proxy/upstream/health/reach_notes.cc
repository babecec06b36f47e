#include "proxy/upstream/health/reach_notes.h"

#include <string>

#include "proxy/base/timestamp.h"

namespace sluice::upstream {
namespace {

// The length of the date at the beginning of a timestamp: "2026-01-31".
constexpr std::size_t kDateSize = 10;

/// Returns the error with the expiry of the gateway's own certificate, which is the likely cause of it.
base::Error withExpiry(const base::Error& error, base::WallTime notAfter) {
  base::Timestamp time;
  base::Error told = error;
  told.detail = "our client certificate has expired on ";
  told.detail.append(time.text(notAfter).substr(0, kDateSize)).append(": ").append(error.detail);
  return told;
}

}  // namespace

void ReachNotes::onOpen(base::WallTime peerEnds) {
  ++open_;
  if (plan_->reach == nullptr) return;
  plan_->reach->onOpen();
  if (peerEnds != base::WallTime{}) plan_->reach->onCertificate(peerEnds);
}

// A Backend with open connections is not unreachable, even if another connection fails.
void ReachNotes::onUnreached(const base::Error& error) const {
  if (open_ == 0) note(error, routing::ConnectionStage::kOpening);
}

// Other connections that are open and unanswered may end in the same way.
void ReachNotes::onRejected(const base::Error& error) const {
  if (answering_ == 0) note(error, routing::ConnectionStage::kUnanswered);
}

void ReachNotes::note(const base::Error& error, routing::ConnectionStage stage) const {
  const routing::BackendPlan& plan = *plan_;
  if (plan.reach == nullptr) return;
  const base::WallTime now = clock_.wallNow();
  const pki::CertificateChain* ours = plan.tls ? plan.tls->clientCertificate.get() : nullptr;
  const bool hasExpired = base::isOfTls(error.type) && ours != nullptr && ours->notAfter() < now;
  plan.reach->onFailure(hasExpired ? withExpiry(error, ours->notAfter()) : error, now, stage);
}

}  // namespace sluice::upstream
