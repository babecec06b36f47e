// Warns of certificates of listeners that expire within a month, and of all others that have expired or soon will. It
// looks once a day and with every configuration, and repeats a warning when a day has passed. When the judgement of a
// certificate changes, the configuration is read again, so that its problems are up to date: at once, and then at most
// once a minute, because a file may have thousands of certificates that expire one after the other.
//
// It belongs to the main thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/control/configuration/named_certificates.h"
#include "proxy/control/state/reloadable.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns "listener at *:443".
std::string bindName(const routing::Bind& bind);

class CertificateWatch final : private net::Timer {
 public:
  static constexpr base::Duration kReloadAgainAfter = std::chrono::minutes(1);

  /// All of them outlive the watch.
  CertificateWatch(observe::EventRing& events, net::TimerWheel& timers, const base::Clock& clock, Reloadable& reader)
      : events_(events), timers_(timers), clock_(clock), reader_(reader) {}

  /// Checks the certificates of the served configuration now, and once a day from now on. `named` are those that its
  /// objects name.
  void adopt(const routing::Snapshot& served, std::vector<NamedCertificate> named);

 private:
  struct ServedCertificate {
    std::string gateway;  // as events name it
    std::string listener;
    base::WallTime end;
  };

  /// When warnings were given, by their objects and texts.
  using Warnings = std::map<std::pair<std::string, std::string>, base::MonotonicTime>;

  void onTimer() override;
  /// Owes a reload if a judgement has changed since it has looked last.
  void noteChange();
  base::MonotonicTime mayReloadAt() const;
  void look();
  /// Adds a warning to the current ones, and an event to the batch if it is due.
  void warn(const std::string& object, const std::string& message, const std::string& field, Warnings& current,
            observe::EventBatch& batch) const;
  void addNamed(Warnings& current, observe::EventBatch& batch) const;

  observe::EventRing& events_;
  net::TimerWheel& timers_;
  const base::Clock& clock_;
  Reloadable& reader_;
  std::vector<ServedCertificate> served_;
  std::vector<NamedCertificate> named_;
  base::WallTime judged_;  // when it has looked last
  Warnings warned_;        // of what it has found then
  bool owesReload_ = false;
  std::optional<base::MonotonicTime> lastReload_;  // that it has caused
};

}  // namespace sluice::control
