#include "proxy/server/serving/serving.h"

#include <utility>

#include "config/load/gateway_settings.h"
#include "proxy/observe/limit_names.h"

namespace sluice::server {

void Serving::attach(std::vector<WorkerRuntime*> workers, Acceptor& acceptor, SharedBudgets& budgets,
                     const base::Settings& atStart) {
  workers_ = std::move(workers);
  acceptor_ = &acceptor;
  budgets_ = &budgets;
  settingsAtStart_ = atStart;
  setState(control::ConfigState::kInSync);
  for (const char* result : {"success", "failure", "unchanged"}) count(result, 0);  // so that rates begin at zero
  for (const std::string_view limit : observe::kLimitNames) metrics_.at<observe::Metric::kLimitHits>(limit).add(0);
}

compile::UnusablePlaces Serving::open(const control::Generation& next) { return sockets_.open(next); }

bool Serving::openAny(const compile::UnusablePlaces& places) { return sockets_.openAny(places); }

control::Publisher::Handover Serving::publish(const std::shared_ptr<const control::Generation>& next,
                                              std::function<void()> adopted) {
  budgets_->setBounds(next->snapshot->settings.limits);
  adopting_ = workers_.size();
  const auto oneHas = [this, adopted = std::move(adopted)] {
    if (--adopting_ == 0) adopted();
  };
  for (WorkerRuntime* worker : workers_) {
    worker->adopt(next, [this, oneHas] { main_.post(oneHas); });
  }
  return Handover::kUnderWay;
}

control::Publisher::Handover Serving::accept(const control::Generation& next, std::function<void()> accepted) {
  workers_.front()->worker().post(
      [this, sockets = sockets_.of(next), limits = next.snapshot->settings.limits, accepted = std::move(accepted)] {
        acceptor_->listen(sockets, limits);
        main_.post(accepted);
      });
  return Handover::kUnderWay;
}

void Serving::closeOthers(const control::Generation& served) { sockets_.closeOthers(served); }

void Serving::onCompiled(const control::CompiledConfiguration& compiled) {
  std::string without = config::gatewaysWithoutTheirSettings(compiled.model);
  // A process without workers serves no Gateway.
  if (!workers_.empty() && !without.empty() && without != withoutTheirSettings_) {
    log_.warn("settings of Gateways are ignored, because this process serves several; --gateway chooses one",
              {{"gateways", without}});
  }
  withoutTheirSettings_ = std::move(without);
}

void Serving::onUnchanged(const control::Revisions& revisions) {
  setState(revisions.state());
  count("unchanged");
  log_.info("configuration is unchanged", {{"revision", revisions.desired}});
}

void Serving::onHeld(const control::Revisions& revisions) {
  setState(revisions.state());
  log_.info("configuration waits until another replica serves it",
            {{"revision", revisions.desired}, {"served", revisions.served}});
}

void Serving::onRefused(const control::Revisions& revisions) {
  setState(revisions.state());
  count("failure");
  const std::string reason = config::firstError(*revisions.problems);
  note(observe::EventType::kWarning,
       revisions.state() == control::ConfigState::kRollback ? "RolledBack" : "RollbackFailed",
       "revision " + revisions.desired + " cannot be served: " + reason);
  log_.error("configuration cannot be served", {{"reason", reason},
                                                {"revision", revisions.desired},
                                                {"served", revisions.served},
                                                {"state", control::configStateName(revisions.state())}});
}

void Serving::onServed(const control::Revisions& revisions, const control::Generation& now, std::string_view before) {
  setState(revisions.state());
  count("success");
  log_.info("configuration reloaded", {{"revision", revisions.served}, {"before", before}});
  note(observe::EventType::kNormal, "Reloaded", "revision " + revisions.served + " is served");
  warnOfFixedSettings(now.snapshot->settings);
}

/// Records an event for the log lines, too.
void Serving::note(observe::EventType type, std::string_view reason, std::string message) {
  const base::WallTime now = main_.clock().wallNow();
  events_.note({type, std::string(reason), {}, std::move(message), 1, now, now});
}

void Serving::setState(control::ConfigState state) {
  for (const control::ConfigState each : control::kConfigStates) {
    metrics_.at<observe::Metric::kConfigState>(control::configStateName(each)).set(each == state ? 1 : 0);
  }
}

void Serving::warnOfFixedSettings(const base::Settings& settings) {
  if (workers_.empty()) return;  // no worker was made with the earlier ones
  std::string changed;
  const auto compare = [&changed](bool same, const char* key) {
    if (!same) changed += (changed.empty() ? "" : ", ") + std::string(key);
  };
  compare(settings.workers == settingsAtStart_.workers, "workers");
  compare(settings.accessLogPath == settingsAtStart_.accessLogPath, "accessLog");
  compare(settings.dns == settingsAtStart_.dns, "dns");
  compare(settings.stateDir == settingsAtStart_.stateDir, "stateDir");
  if (!changed.empty()) log_.warn("settings take effect after a restart", {{"settings", changed}});
}

}  // namespace sluice::server
