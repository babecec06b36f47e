#include "proxy/control/report/certificate_watch.h"

#include <string>

#include "proxy/base/timestamp.h"

namespace sluice::control {
namespace {

constexpr auto kDay = std::chrono::hours(24);
constexpr auto kSoon = 30 * kDay;

void addExpiring(const routing::Bind& bind, base::WallTime now, observe::EventBatch& batch) {
  for (const routing::ListenerIdentity& each : bind.identities) {
    const base::WallTime end = each.certificate->notAfter();
    if (end - now > kSoon) continue;
    batch.add(observe::EventType::kWarning, "CertificateExpires", bindName(bind),
              "its certificate is valid until " + std::string(base::Timestamp().text(end)), now);
  }
}

}  // namespace

std::string bindName(const routing::Bind& bind) {
  return "listener at " + (bind.address.empty() ? "*" : bind.address) + ":" + std::to_string(bind.port);
}

void CertificateWatch::look() {
  timers_.set(*this, clock_.now() + kDay);
  const CompiledConfiguration* served = served_();
  if (served == nullptr) return;
  observe::EventBatch batch;
  for (const routing::Bind& bind : served->compiled.snapshot->binds) addExpiring(bind, clock_.wallNow(), batch);
  if (!batch.empty()) events_.add(batch.take(), batch.takeDropped());
}

}  // namespace sluice::control
