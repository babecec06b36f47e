#include "proxy/server/serving.h"

#include <array>
#include <utility>

#include "config/yaml/source_files.h"

namespace sluice::server {
namespace {

// A port that is taken may become free: so often and after so long it is tried again (MARIN3R's backoff, R-14), then
// the revision is given up.
constexpr std::array<base::Duration, 4> kRetryAfter = {std::chrono::milliseconds(10), std::chrono::milliseconds(10),
                                                       std::chrono::milliseconds(100), std::chrono::milliseconds(100)};

}  // namespace

Serving::Serving(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
                 net::Worker& main, observe::MetricShard& metrics)
    : log_(log),
      main_(main),
      metrics_(metrics),
      watch_(
          main, {.paths = paths, .takes = config::isConfigurationFile}, [this] { reload(); },
          [&log](const base::Error& error) {
            log.warn("changes of the configuration are seen late", {{"reason", error.detail}});
          }),
      loader_(paths, processors, log, main) {}

Serving::~Serving() = default;

void Serving::start(std::function<void(const base::Status&)> started) {
  loader_.load(configuration_, nullptr, [this, started = std::move(started)](Loaded&& loaded) {
    if (!stopped_) started(adoptFirst(std::move(loaded)));
  });
}

base::Status Serving::adoptFirst(Loaded&& loaded) {
  configuration_ = std::move(loaded.configuration);
  if (!configuration_.usable()) {
    return base::Error::config("the configuration can not be served; `sluice validate` says more");
  }
  if (loaded.generation == nullptr) return base::Error::config(loaded.refusal);
  generation_ = std::move(loaded.generation);
  settingsAtStart_ = settings();
  if (base::Status opened = sockets_.open(*generation_); !opened.ok()) return opened;
  revisions_ = {configuration_.revision, configuration_.revision, configuration_.revision,
                control::ConfigState::kInSync};
  setState(control::ConfigState::kInSync);
  for (const char* result : {"success", "failure", "unchanged"}) count(result, 0);  // so that rates begin at nothing
  return base::Done{};
}

void Serving::attach(std::vector<WorkerRuntime*> workers, Acceptor& acceptor, SharedBudgets& budgets) {
  workers_ = std::move(workers);
  acceptor_ = &acceptor;
  budgets_ = &budgets;
  if (std::exchange(again_, false)) reload();
}

void Serving::reload() {
  if (stopped_) return;
  if (candidate_ || workers_.empty()) {
    again_ = true;
    return;
  }
  candidate_.emplace();
  loader_.load(configuration_, generation_, [this](Loaded&& loaded) { take(std::move(loaded)); });
}

void Serving::stop() {
  stopped_ = true;
  cancel();
}

void Serving::take(Loaded&& loaded) {
  if (stopped_) return candidate_.reset();
  candidate_->configuration = std::move(loaded.configuration);
  candidate_->generation = std::move(loaded.generation);
  revisions_.desired = candidate_->configuration.revision;
  if (loaded.unchanged) {
    setState(control::ConfigState::kInSync);
    log_.info("configuration is unchanged", {{"revision", revisions_.desired}});
    count("unchanged");
    return next();
  }
  if (candidate_->generation == nullptr) return refuse("configuration can not be served", loaded.refusal);
  open();
}

void Serving::open() {
  const base::Status opened = sockets_.open(*candidate_->generation);
  if (opened.ok()) return publish();
  const auto failures = static_cast<std::size_t>(candidate_->failures++);
  if (failures == kRetryAfter.size()) return refuse("configuration can not be served", opened.error().detail);
  main_.timers().set(*this, main_.now() + kRetryAfter[failures]);
}

void Serving::publish() {
  revisions_.published = candidate_->configuration.revision;
  const base::LimitSettings& limits = candidate_->generation->snapshot->settings.limits;
  budgets_->setBounds(limits);
  candidate_->waiting = workers_.size();
  for (WorkerRuntime* worker : workers_) {
    worker->adopt(candidate_->generation, [this] { main_.post([this] { onAdopted(); }); });
  }
}

void Serving::onAdopted() {
  if (--candidate_->waiting == 0) accept();
}

// Only now that every worker knows its binds.
void Serving::accept() {
  const std::size_t most = candidate_->generation->snapshot->settings.limits.connections;
  workers_.front()->worker().post([this, sockets = sockets_.of(*candidate_->generation), most] {
    acceptor_->listen(sockets, most);
    main_.post([this] { finish(); });
  });
}

void Serving::finish() {
  const std::string before = revisions_.served;
  sockets_.closeOthers(*candidate_->generation);
  std::swap(generation_, candidate_->generation);
  std::swap(configuration_, candidate_->configuration);
  revisions_.served = configuration_.revision;
  ++adoptions_;
  setState(control::ConfigState::kInSync);
  count("success");
  log_.info("configuration reloaded", {{"revision", revisions_.served}, {"before", before}});
  warnOfFixedSettings(settings());
  served_();
  next();
}

void Serving::refuse(std::string_view what, std::string_view reason) {
  setState(control::ConfigState::kRollback);
  count("failure");
  log_.error(what, {{"reason", reason}, {"revision", revisions_.desired}, {"served", revisions_.served}});
  if (candidate_->generation) sockets_.closeOthers(*generation_);
  next();
}

void Serving::next() {
  loader_.discard(std::move(candidate_->configuration), std::move(candidate_->generation));
  candidate_.reset();
  if (std::exchange(again_, false)) reload();
}

std::string Serving::version() const {
  return std::to_string(adoptions_) + " " + revisions_.desired + " " + revisions_.published + " " + revisions_.served +
         " " + std::string(control::configStateName(revisions_.state));
}

void Serving::setState(control::ConfigState state) {
  revisions_.state = state;
  for (const auto each : {control::ConfigState::kInSync, control::ConfigState::kRollback}) {
    metrics_.at<observe::Metric::kConfigState>(control::configStateName(each)).set(each == state ? 1 : 0);
  }
}

void Serving::warnOfFixedSettings(const base::Settings& settings) {
  std::string changed;
  const auto compare = [&changed](bool same, const char* key) {
    if (!same) changed += (changed.empty() ? "" : ", ") + std::string(key);
  };
  compare(settings.workers == settingsAtStart_.workers, "workers");
  compare(settings.accessLogPath == settingsAtStart_.accessLogPath, "accessLog");
  compare(settings.dns == settingsAtStart_.dns, "dns");
  if (!changed.empty()) log_.warn("settings take effect after a restart", {{"settings", changed}});
}

}  // namespace sluice::server
