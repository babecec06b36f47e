#include "proxy/control/report/certificate_watch.h"

#include <algorithm>
#include <map>
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
      served_.push_back({bind.gateway, bindName(bind), each.certificate->notAfter()});
    }
  }
  look();
}

void CertificateWatch::look() {
  timers_.set(*this, clock_.now() + kDay);
  const base::WallTime now = clock_.wallNow();
  std::map<std::string, std::vector<const ServedCertificate*>> soon;  // by Gateway
  for (const ServedCertificate& each : served_) {
    if (each.end - now <= kSoon) soon[each.gateway].push_back(&each);
  }
  observe::EventBatch batch;
  for (const auto& [gateway, certificates] : soon) {
    const ServedCertificate& first =
        **std::min_element(certificates.begin(), certificates.end(), [](auto* a, auto* b) { return a->end < b->end; });
    std::string message = "the certificate of the " + first.listener + " is valid until ";
    message += base::Timestamp().text(first.end);
    if (const std::size_t more = certificates.size() - 1; more > 0) {
      message += ", and " + std::to_string(more) + " more expire soon";
    }
    batch.add(observe::EventType::kWarning, "CertificateExpires", gateway, message, now);
  }
  if (!batch.empty()) events_.add(batch.take(), batch.takeDropped());
}

}  // namespace sluice::control
