#include "proxy/control/report/certificate_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/base/timestamp.h"
#include "proxy/control/report/certificate_problems.h"

namespace sluice::control {
namespace {

constexpr auto kDay = std::chrono::hours(24);
constexpr auto kSoon = 30 * kDay;

}  // namespace

std::string bindName(const routing::Bind& bind) {
  return "listener at " + (bind.address.empty() ? "*" : bind.address) + ":" + std::to_string(bind.port);
}

void CertificateWatch::adopt(const routing::Snapshot& served, std::vector<NamedCertificate> named) {
  noteChange();
  named_ = std::move(named);
  served_.clear();
  for (const routing::Bind& bind : served.binds) {
    for (const routing::ListenerIdentity& each : bind.identities) {
      served_.push_back({bind.gateway, bindName(bind), each.certificate->notAfter()});
    }
  }
  look();
}

void CertificateWatch::onTimer() {
  noteChange();
  const bool reloads = std::exchange(owesReload_, false);
  if (reloads) lastReload_ = clock_.now();
  look();
  if (reloads) reader_.reload();
}

void CertificateWatch::noteChange() {
  if (nextCertificateChange(named_, judged_) <= clock_.wallNow()) owesReload_ = true;
}

base::MonotonicTime CertificateWatch::mayReloadAt() const {
  return lastReload_ ? std::max(clock_.now(), *lastReload_ + kReloadAgainAfter) : clock_.now();
}

void CertificateWatch::warn(const std::string& object, const std::string& message, const std::string& field,
                            Warnings& current, observe::EventBatch& batch) const {
  const auto known = warned_.find({object, message});
  const bool isDue = known == warned_.end() || clock_.now() - known->second >= kDay;
  current.emplace(std::pair(object, message), isDue ? clock_.now() : known->second);
  if (!isDue) return;
  batch.add(observe::EventType::kWarning, "CertificateExpires", object, message, judged_, field);
}

/// Certificates of listeners have an event of their Gateway already, which begins earlier.
void CertificateWatch::addNamed(Warnings& current, observe::EventBatch& batch) const {
  for (const NamedCertificate& each : named_) {
    if (each.use == NamedCertificate::Use::kListener) continue;
    const config::Problem problem = certificateProblem(each, judged_);
    if (!problem.message.empty()) warn(each.object, problem.message, each.field, current, batch);
  }
}

void CertificateWatch::look() {
  const base::WallTime now = clock_.wallNow();
  judged_ = now;
  const base::WallTime change = nextCertificateChange(named_, now);
  const bool isSoon = change < now + kDay;
  const base::MonotonicTime due = clock_.now() + (isSoon ? change - now : base::Duration(kDay));
  timers_.set(*this, owesReload_ ? mayReloadAt() : std::max(due, mayReloadAt()));
  std::map<std::string, std::vector<const ServedCertificate*>> soon;  // by Gateway
  for (const ServedCertificate& each : served_) {
    if (each.end - now <= kSoon) soon[each.gateway].push_back(&each);
  }
  Warnings current;
  observe::EventBatch batch;
  for (const auto& [gateway, certificates] : soon) {
    const ServedCertificate& first =
        **std::min_element(certificates.begin(), certificates.end(), [](auto* a, auto* b) { return a->end < b->end; });
    std::string message = "the certificate of the " + first.listener + " is valid until ";
    message += base::Timestamp().text(first.end);
    if (const std::size_t more = certificates.size() - 1; more > 0) {
      message += ", and " + std::to_string(more) + " more expire soon";
    }
    warn(gateway, message, {}, current, batch);
  }
  addNamed(current, batch);
  warned_ = std::move(current);
  if (!batch.empty()) events_.add(batch.take(), batch.takeDropped());
}

}  // namespace sluice::control
