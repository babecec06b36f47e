#include "proxy/control/report/certificate_watch.h"

#include <string>

#include "proxy/base/timestamp.h"

namespace sluice::control {
namespace {

constexpr auto kDay = std::chrono::hours(24);
constexpr auto kSoon = 30 * kDay;

}  // namespace

std::string bindName(const routing::Bind& bind) {
  return "listener at " + (bind.address.empty() ? "*" : bind.address) + ":" + std::to_string(bind.port);
}

void CertificateWatch::adopt(const routing::Snapshot& served) {
  served_.clear();
  for (const routing::Bind& bind : served.binds) {
    for (const routing::ListenerIdentity& each : bind.identities) {
      served_.push_back({bindName(bind), each.certificate->notAfter()});
    }
  }
  look();
}

void CertificateWatch::look() {
  timers_.set(*this, clock_.now() + kDay);
  const base::WallTime now = clock_.wallNow();
  observe::EventBatch batch;
  for (const ServedCertificate& each : served_) {
    if (each.end - now > kSoon) continue;
    batch.add(observe::EventType::kWarning, "CertificateExpires", each.listener,
              "its certificate is valid until " + std::string(base::Timestamp().text(each.end)), now);
  }
  if (!batch.empty()) events_.add(batch.take(), batch.takeDropped());
}

}  // namespace sluice::control
