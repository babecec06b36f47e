#include "proxy/control/loading_thread.h"

#include <malloc.h>

#include <chrono>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/load/secret_documents.h"
#include "config/status/history.h"
#include "proxy/base/timestamp.h"
#include "proxy/control/configuration/revision_key.h"
#include "proxy/control/report/backend_events.h"
#include "proxy/control/report/event_relay.h"
#include "proxy/control/report/status_document.h"
#include "proxy/control/server_log.h"

namespace sluice::control {
namespace {

/// Returns the objects that metrics of routes, Backends and Gateways may name.
std::unordered_set<std::string> objectsOf(const CompiledConfiguration& configuration) {
  std::unordered_set<std::string> objects;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    objects.insert(object.nameSpace + "/" + object.name);
  }
  for (const auto& backend : configuration.compiled.snapshot->backends) objects.insert(backend->name);
  return objects;
}

using SharedConfiguration = std::shared_ptr<const CompiledConfiguration>;

/// Returns a copy, which outlives the configuration.
std::shared_ptr<const config::Problems> problemsOf(const SharedConfiguration& configuration) {
  return std::make_shared<const config::Problems>(configuration->problems);
}

std::string whyTainted(const LedgerRevision& tainted, const CompiledConfiguration& read) {
  return "this revision was refused before (" + tainted.reason + "); change it, or run `sluice revisions clear " +
         read.revision + "`";
}

/// Returns its problems, after one with the reason of the refusal.
std::shared_ptr<const config::Problems> problemsOf(const SharedConfiguration& configuration, std::string refusal) {
  config::Problem problem;
  problem.message = std::move(refusal);
  auto all = std::make_shared<config::Problems>(1, std::move(problem));
  all->insert(all->end(), configuration->problems.begin(), configuration->problems.end());
  return all;
}

/// Returns the documents of a set that hold secrets, as texts of their own.
std::vector<config::SourceText> secretsOf(const config::ObjectSet& set) {
  std::vector<config::SourceText> secrets;
  for (std::size_t i = 0; i < set.readings.size(); ++i) {
    std::string text = config::partSecrets(set.texts[i]->text.reveal(), *set.readings[i]).secret;
    if (!text.empty()) secrets.push_back({set.texts[i]->file, std::move(text)});
  }
  return secrets;
}

}  // namespace

LoadingThread::LoadingThread(Source& source, const processing::BuiltinTypes& processors, observe::Log& log,
                             net::Worker& main, std::string stateFolder, observe::EventRing* events,
                             std::optional<compile::AddressPool> pool, LogPathCheck logPath)
    : source_(source),
      processors_(processors),
      log_(log),
      main_(main),
      events_(events),
      pool_(std::move(pool)),
      logPath_(logPath),
      stateFolder_(std::move(stateFolder)),
      conditionLog_(log),
      thread_([this] { run(); }) {}

LoadingThread::~LoadingThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LoadingThread::post(std::function<void()> job, bool owed) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(job), owed});
  }
  changed_.notify_one();
}

void LoadingThread::run() {
  openState();
  for (;;) {
    const std::function<void()> job = takeJob();
    if (job == nullptr) return;
    job();
    hasFreed_ = true;
  }
}

/// Waits for the next job. Returns nullptr if the thread ends.
std::function<void()> LoadingThread::takeJob() {
  std::unique_lock lock(mutex_);
  const auto hasWork = [this] { return ending_ || !jobs_.empty(); };
  if (hasFreed_ && !changed_.wait_for(lock, kTrimAfter, hasWork)) {
    hasFreed_ = false;
    lock.unlock();
    // The freed memory is scattered among memory in use, and free() alone does not return it to the system.
    malloc_trim(0);
    lock.lock();
  }
  changed_.wait(lock, hasWork);
  if (ending_) std::erase_if(jobs_, [](const Job& each) { return !each.owed; });
  if (jobs_.empty()) return nullptr;
  std::function<void()> job = std::move(jobs_.front().run);
  jobs_.pop_front();
  return job;
}

void LoadingThread::hand(Loaded&& loaded, const Done& done) {
  // The message must be copyable, so it holds the result by a pointer.
  main_.post([loaded = std::make_shared<Loaded>(std::move(loaded)), done] { done(std::move(*loaded)); });
}

void LoadingThread::load(const Loaded& served, compile::UnusablePlaces unusable, Done done) {
  post([this, served, unusable = std::move(unusable), done = std::move(done)] {
    const auto readSource = [this] { return source_.read(revisionKey_); };
    hand(loadNow(served, readSource, unusable), done);
  });
}

void LoadingThread::recompile(const Loaded& served, const Loaded& newest, compile::UnusablePlaces unusable, Done done) {
  post([this, served, newest = newest.configuration, unusable = std::move(unusable), done = std::move(done)] {
    const config::ObjectSet& set = served.configuration->set;
    const auto refreshed = [&] { return newest == nullptr ? set : source_.refreshed(set, newest->set); };
    hand(loadNow(served, refreshed, unusable, /*reports=*/newest == nullptr), done);
  });
}

void LoadingThread::restore(compile::UnusablePlaces unusable, Done done) {
  post([this, unusable = std::move(unusable), done = std::move(done)] { hand(restoreNow(unusable), done); });
}

void LoadingThread::rescue(compile::UnusablePlaces unusable, Done done) {
  post([this, unusable = std::move(unusable), done = std::move(done)] { hand(rescueNow(unusable), done); });
}

void LoadingThread::remember(const Loaded& served) {
  post([this, served = served.configuration] { rememberNow(*served); });
}

void LoadingThread::keep(const Loaded& served) {
  post([this, served = served.configuration] { keepNow(*served); }, true);
}

void LoadingThread::clearTaint(std::string prefix, std::function<void(bool)> done) {
  post([this, prefix = std::move(prefix), done = std::move(done)] {
    bool cleared = false;
    changeLedger([&](RevisionLedger& ledger) { cleared = ledger.clear(prefix); });
    if (cleared) keepLedger();
    main_.post([cleared, done] { done(cleared); });
  });
}

void LoadingThread::judge(const Loaded& served, const std::string& text, compile::UnusablePlaces unusable,
                          std::function<void(Judgement)> done) {
  post([this, served = served.configuration, text, unusable = std::move(unusable), done = std::move(done)] {
    config::TextCache texts;
    ConfigurationCache cache;  // a separate one, so that the served configuration keeps the states of its processors
    CompiledConfiguration made =
        makeConfiguration(atSource(config::readTexts({{"body", text}}, {}, newRevisionKey(), texts)), served.get(),
                          processors_, cache, std::move(unusable), pool_);
    addSurroundings(made, main_.clock().wallNow(), logPath_);
    const LedgerRevision* tainted = ledger_->findTainted(made.digest);
    const std::string refusal = tainted == nullptr || !made.usable() ? "" : whyTainted(*tainted, made);
    main_.post(
        [judgement = Judgement{verdictDocument(made, refusal), made.compiled.snapshot}, done] { done(judgement); });
  });
}

std::shared_ptr<const RevisionLedger> LoadingThread::ledger() const {
  const std::lock_guard lock(mutex_);
  return ledger_;
}

void LoadingThread::discard(Loaded&& old) {
  post([old = std::move(old)]() mutable { old = {}; });
}

// --- the work of the thread ------------------------------------------------------------------------------------------

void LoadingThread::openStore() {
  if (stateFolder_.empty()) return;
  if (auto opened = RevisionStore::open(stateFolder_); opened.ok()) {
    store_.emplace(std::move(*opened));
  } else {
    log_.error("the last good configuration cannot be stored", {{"reason", opened.error().detail}});
  }
}

void LoadingThread::openState() {
  openStore();
  ownKey_ = revisionKey_ = store_ ? store_->key() : newRevisionKey();
  if (!store_) return;
  auto ledger = std::make_shared<RevisionLedger>();
  config::Problems problems;
  store_->read(*ledger, problems);
  report(problems);
  keptLedger_ = ledger->revisions();
  const std::lock_guard lock(mutex_);
  ledger_ = std::move(ledger);
}

/// Opens the folder that the first configuration names, unless the process was given one.
void LoadingThread::openStateOf(const base::Settings& settings) {
  if (!stateFolder_.empty() || settings.stateDir.empty()) return;
  stateFolder_ = settings.stateDir;
  openState();
}

/// Returns the set with the properties that all sets of the source share, wherever it was read from, and the time.
config::ObjectSet LoadingThread::atSource(config::ObjectSet set) const {
  set.keeping = source_.keeping();
  set.readAt = main_.clock().wallNow();
  return set;
}

/// Compiles the set that `read` returns. If it names another key of digests, compiles it with that one.
std::shared_ptr<const CompiledConfiguration> LoadingThread::compileByItsKey(
    const std::function<config::ObjectSet()>& read, const CompiledConfiguration* before,
    const compile::UnusablePlaces& unusable) {
  const auto make = [&] { return makeConfiguration(atSource(read()), before, processors_, cache_, unusable, pool_); };
  const base::Secret readBy = revisionKey_;
  CompiledConfiguration made = make();
  if (made.usable()) {
    openStateOf(made.model.settings);
    revisionKey_ = made.revisionKey ? *made.revisionKey : ownKey_;
    if (revisionKey_.reveal() != readBy.reveal()) made = make();
  }
  addSurroundings(made, main_.clock().wallNow(), logPath_);
  static const config::StatusList kNone;
  config::carryHistory(made.compiled.statuses, before == nullptr ? kNone : before->compiled.statuses,
                       main_.clock().wallNow());
  return std::make_shared<const CompiledConfiguration>(std::move(made));
}

Loaded LoadingThread::loadNow(const Loaded& served, const std::function<config::ObjectSet()>& readSet,
                              const compile::UnusablePlaces& unusable, bool reports) {
  const CompiledConfiguration* before = served.configuration.get();
  const SharedConfiguration read = compileByItsKey(readSet, before, unusable);
  if (read->usable())
    changeLedger([&](RevisionLedger& ledger) { ledger.setMost(read->model.settings.revisions.keep); });
  if (before != nullptr && read->readable && read->sameAs(*before)) {
    return {Loaded::Outcome::kUnchanged, read, nullptr, problemsOf(read)};
  }
  if (reports) {
    report(*read);
  } else if (!read->usable()) {
    log_.warn("the served configuration cannot be compiled with the current Secrets and endpoints",
              {{"reason", config::firstError(read->problems)}});
  }
  static const std::vector<compile::AskedServer> kNoServers;
  logServers(before == nullptr ? kNoServers : before->compiled.servers, read->compiled.servers, log_);
  if (!read->usable()) return refused(read, before != nullptr);
  Loaded loaded = servable(read, served.generation.get());
  // One that is refused stays out of the comparison with the next, so its changes would be told once more.
  if (before != nullptr && loaded.outcome == Loaded::Outcome::kServable) reportBackends(*before, *read);
  return loaded;
}

Loaded LoadingThread::servable(std::shared_ptr<const CompiledConfiguration> read, const Generation* before) {
  if (const LedgerRevision* tainted = ledger_->findTainted(read->digest)) {
    return {Loaded::Outcome::kRefused, read, nullptr, problemsOf(read, whyTainted(*tainted, *read))};
  }
  auto made = maker_.make(read->compiled.snapshot, read->servedRevision, before, objectsOf(*read));
  if (made.ok()) return {Loaded::Outcome::kServable, read, std::move(*made), problemsOf(read)};
  const auto problems = problemsOf(read, made.error().detail);
  taint(*read, made.error().detail);
  return {Loaded::Outcome::kRefused, read, nullptr, problems};
}

/// Taints a configuration whose content is at fault. If it can be read, its listeners are known, and answer 500 if no
/// other configuration is served.
Loaded LoadingThread::refused(std::shared_ptr<const CompiledConfiguration> read, bool somethingIsServed) {
  Loaded loaded{Loaded::Outcome::kRefused, read, nullptr, problemsOf(read)};
  if (read->unavailable()) {
    loaded.outcome = Loaded::Outcome::kUnavailable;
    return loaded;
  }
  taint(*read, config::firstError(*loaded.problems));
  if (!somethingIsServed && read->readable && !read->compiled.snapshot->binds.empty()) {
    if (auto made = maker_.make(read->compiled.snapshot, read->servedRevision, nullptr, objectsOf(*read)); made.ok()) {
      loaded.generation = std::move(*made);
    }
  }
  return loaded;
}

Loaded LoadingThread::restoreNow(const compile::UnusablePlaces& unusable) {
  if (!store_) return {};
  config::Problems problems;
  Loaded restored;
  if (const auto stored = store_->lastGood(problems)) {
    restored = restore(*stored, unusable);
    if (restored.outcome == Loaded::Outcome::kServable) kept_ = restored.configuration->content();
  }
  const std::shared_ptr<const RevisionLedger> ledger = this->ledger();
  for (const LedgerRevision& each : ledger->revisions()) {
    if (restored.outcome == Loaded::Outcome::kServable) break;
    if (each.tainted()) continue;
    auto stored = store_->ofHistory(each.digest, problems);
    if (!stored) continue;
    for (config::SourceText& secrets : secretsOf(source_.read(revisionKey_))) {
      stored->written.push_back(std::move(secrets));
    }
    restored = restore(*stored, unusable);
  }
  report(problems);
  if (restored.outcome != Loaded::Outcome::kServable) return {};
  log_.info("serving the last good configuration", {{"revision", restored.configuration->servedRevision}});
  return restored;
}

Loaded LoadingThread::restore(const StoredConfiguration& stored, const compile::UnusablePlaces& unusable) {
  CompiledConfiguration before;
  const auto readStored = [&] {
    config::TextCache kept;  // caches hold digests by one key
    config::TextCache written;
    before.set = config::readTexts(stored.kept, {}, revisionKey_, kept);
    before.model = config::load(before.set, nullptr).model;
    return config::readTexts(stored.written, {}, revisionKey_, written);
  };
  const SharedConfiguration read = compileByItsKey(readStored, &before, unusable);
  if (!read->usable()) return {};
  return servable(read, nullptr);
}

Loaded LoadingThread::rescueNow(const compile::UnusablePlaces& unusable) {
  const std::size_t kept = source_.earlier();
  for (std::size_t which = 0; which < kept; ++which) {
    const auto readKept = [&] { return source_.readEarlier(which, revisionKey_); };
    const SharedConfiguration read = compileByItsKey(readKept, nullptr, unusable);
    if (read->usable()) {
      Loaded rescued = servable(read, nullptr);
      if (rescued.outcome != Loaded::Outcome::kServable) continue;
      log_.info("serving the newest good configuration", {{"revision", read->servedRevision}});
      return rescued;
    }
    // It is read again whenever the newest objects have changed, and are refused again.
    const std::string why = config::firstError(read->problems);
    if (toldOfEarlier_.size() < kMostTold && toldOfEarlier_.insert(why).second)
      log_.warn("an earlier configuration cannot be served", {{"reason", why}});
    if (read->unavailable()) return {Loaded::Outcome::kUnavailable, nullptr, nullptr};
  }
  return {};
}

void LoadingThread::keepNow(const CompiledConfiguration& served) {
  if (!store_) openStore();
  if (store_ && served.content() != kept_) {
    if (const base::Status kept = store_->keep(served); kept.ok()) {
      kept_ = served.content();
    } else {
      log_.error("the last good configuration cannot be stored", {{"reason", kept.error().detail}});
    }
  }
  // Whoever sees it in the history may rely on it that it is stored.
  rememberNow(served);
  keepLedger();
}

void LoadingThread::rememberNow(const CompiledConfiguration& served) {
  changeLedger(
      [&](RevisionLedger& ledger) { ledger.addServed(served.digest, served.servedDigest, main_.clock().wallNow()); });
}

void LoadingThread::changeLedger(const std::function<void(RevisionLedger&)>& change) {
  auto changed = std::make_shared<RevisionLedger>(*ledger_);
  change(*changed);
  const std::lock_guard lock(mutex_);
  ledger_ = std::move(changed);
}

/// The next process must not try it either, so it is stored at once.
void LoadingThread::taint(const CompiledConfiguration& read, const std::string& reason) {
  changeLedger([&](RevisionLedger& ledger) { ledger.addTainted(read.digest, reason, main_.clock().wallNow()); });
  keepLedger();
}

void LoadingThread::keepLedger() {
  if (!store_ || ledger_->revisions() == keptLedger_) return;
  keptLedger_ = ledger_->revisions();
  if (const base::Status kept = store_->keep(*ledger_); !kept.ok()) {
    log_.error("the history of revisions cannot be stored", {{"reason", kept.error().detail}});
  }
}

void LoadingThread::report(const config::Problems& problems) {
  for (const config::Problem& problem : problems) {
    const bool bad = problem.severity == config::Severity::kError;
    bad ? log_.error(config::render(problem)) : log_.warn(config::render(problem));
  }
}

void LoadingThread::reportBackends(const CompiledConfiguration& before, const CompiledConfiguration& now) {
  if (events_ == nullptr) return;
  observe::EventBatch batch;
  noteBackends(before.compiled.health, now.compiled.health, main_.clock().wallNow(), batch);
  EventRelay(main_, *events_).send(batch);
}

void LoadingThread::report(const CompiledConfiguration& configuration) {
  report(configuration.problems);
  observe::EventBatch batch;
  conditionLog_.note(configuration.compiled.statuses, main_.clock().wallNow(), batch);
  if (events_ != nullptr) EventRelay(main_, *events_).send(batch);
}

}  // namespace sluice::control
