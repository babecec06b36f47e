#include "proxy/server/serving.h"

#include <malloc.h>

#include <array>
#include <random>
#include <utility>

#include "config/source_files.h"

namespace sluice::server {
namespace {

// A port that is taken may become free: so often and after so long it is tried again (MARIN3R's backoff, R-14), then
// the revision is given up.
constexpr std::array<base::Duration, 4> kRetryAfter = {std::chrono::milliseconds(10), std::chrono::milliseconds(10),
                                                       std::chrono::milliseconds(100), std::chrono::milliseconds(100)};

// As long as the digest that it guards.
base::Secret newRevisionKey() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < 32) bytes += static_cast<char>(random() & 0xff);
  return base::Secret(std::move(bytes));
}

}  // namespace

Serving::Serving(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
                 net::Worker& main, observe::MetricShard& metrics)
    : paths_(paths),
      processors_(processors),
      revisionKey_(newRevisionKey()),
      log_(log),
      main_(main),
      metrics_(metrics),
      watch_(
          main, {.paths = paths, .takes = config::isConfigurationFile}, [this] { reload(); },
          [&log](const base::Error& error) {
            log.warn("changes of the configuration are seen late", {{"reason", error.detail}});
          }) {}

Serving::~Serving() = default;

base::Status Serving::start() {
  configuration_ = control::readConfiguration(paths_, revisionKey_, nullptr, processors_, memo_);
  report(configuration_);
  if (!configuration_.usable()) {
    return base::Error::config("the configuration can not be served; `sluice validate` says more");
  }
  auto generation = maker_.make(configuration_.compiled.snapshot, configuration_.revision, nullptr);
  if (!generation.ok()) return generation.error();
  generation_ = std::move(*generation);
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
}

void Serving::reload() {
  if (stopped_ || workers_.empty()) return;
  if (candidate_) {
    again_ = true;
    return;
  }
  candidate_.emplace();
  candidate_->configuration = control::readConfiguration(paths_, revisionKey_, &configuration_.model, processors_, memo_);
  take();
}

void Serving::stop() {
  stopped_ = true;
  cancel();
}

void Serving::take() {
  const control::Configuration& read = candidate_->configuration;
  revisions_.desired = read.revision;
  if (read.readable && read.sameAs(configuration_)) {
    setState(control::ConfigState::kInSync);
    log_.info("configuration is unchanged", {{"revision", read.revision}});
    count("unchanged");
    return next();
  }
  report(read);
  if (!read.usable()) return refuse("configuration can not be served", "`sluice validate` says more");
  auto generation = maker_.make(read.compiled.snapshot, read.revision, generation_.get());
  if (!generation.ok()) return refuse("configuration can not be served", generation.error().detail);
  candidate_->generation = std::move(*generation);
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
  const config::LimitSettings& limits = candidate_->generation->snapshot->settings.limits;
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
  generation_ = std::move(candidate_->generation);
  configuration_ = std::move(candidate_->configuration);
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

// What is gone now lies scattered among what stays, where free() alone leaves it to the process.
void Serving::next() {
  candidate_.reset();
  malloc_trim(0);
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

void Serving::report(const control::Configuration& configuration) {
  for (const config::Problem& problem : configuration.problems) log_.error(config::render(problem));
  std::set<std::string> unhealthy;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    if (!config::isHealthy(object)) unhealthy.insert(config::objectStatusJson(object));
  }
  for (const std::string& status : unhealthy) {
    if (!reported_.contains(status)) log_.warn("object is not fully served", {{"status", status}});
  }
  reported_ = std::move(unhealthy);
}

void Serving::warnOfFixedSettings(const config::Settings& settings) {
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
