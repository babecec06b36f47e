#include "proxy/server/process.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <random>

#include "config/catalog/supported_kinds.h"
#include "config/load/class_settings.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/file_source.h"
#include "proxy/control/loading_thread.h"
#include "proxy/control/reloader.h"
#include "proxy/control/report/certificate_watch.h"
#include "proxy/control/report/config_metrics.h"
#include "proxy/control/report/endpoint_list.h"
#include "proxy/control/report/event_relay.h"
#include "proxy/control/report/seen_endpoints.h"
#include "proxy/control/report/status_document.h"
#include "proxy/control/text_source.h"
#include "proxy/net/beat_group.h"
#include "proxy/net/signals.h"
#include "proxy/observe/metrics_reader.h"
#include "proxy/observe/process_metrics.h"
#include "proxy/server/admin/admin.h"
#include "proxy/server/admin/admin_connection.h"
#include "proxy/server/admin/exchanges_page.h"
#include "proxy/server/admin/explain_page.h"
#include "proxy/server/admin/shared_text.h"
#include "proxy/server/cluster_link.h"
#include "proxy/server/commands/build_facts.h"
#include "proxy/server/commands/validate_action.h"
#include "proxy/server/kubernetes/without_traffic.h"
#include "proxy/server/page/live_page.h"
#include "proxy/server/page/page_files.h"
#include "proxy/server/process_resources.h"
#include "proxy/server/serving/access_log_file.h"
#include "proxy/server/serving/descriptor_shares.h"
#include "proxy/server/serving/health_checks.h"
#include "proxy/server/serving/serving.h"
#include "proxy/server/serving/shutdown.h"
#include "proxy/server/serving/worker_group.h"

namespace sluice::server {
namespace {

constexpr base::Duration kDrainDelayInPod = std::chrono::seconds(5);

std::uint64_t seedOfRetries() {
  std::random_device random;
  return random() | 1;  // not 0
}

std::optional<compile::AddressPool> poolOf(const Options& options) {
  return options.kubernetes ? options.kubernetes->addressPool : std::nullopt;
}

/// A process that serves only some of the Gateways counts only the objects that concern these.
control::CountedObjects countedBy(const Options& options) {
  const bool ofSome = options.kubernetes && !options.kubernetes->gateways.empty();
  return ofSome ? control::CountedObjects::kServed : control::CountedObjects::kAll;
}

/// Returns null if the process has no files and no objects of its own.
std::unique_ptr<control::Source> makeOwnSource(const Options& options, net::Worker& main, observe::Log& log) {
  if (!options.objects.empty()) {
    return std::make_unique<control::TextSource>(config::SourceText{"command line", options.objects});
  }
  if (options.config.empty()) return nullptr;
  return std::make_unique<control::FileSource>(options.config, main, log);
}

class Process final : private control::ReloadObserver {
 public:
  Process(const Options& options, const processing::BuiltinTypes& processors, observe::Log& log,
          const base::Clock& clock)
      : options_(options),
        log_(log),
        clock_(clock),
        descriptors_(raiseDescriptorLimit()),
        main_(clock),
        mainMetrics_(metrics_),
        admin_(main_, mainMetrics_),
        source_(makeSource()),
        events_(log, mainMetrics_),
        loader_(*source_, processors, log, main_, options.stateDir, &events_, poolOf(options),
                servesTraffic() ? control::LogPathCheck::kError : control::LogPathCheck::kNone),
        serving_(log, main_, mainMetrics_, events_),
        reloader_({loader_, publisher(), main_.timers(), clock, seedOfRetries(), cluster_ ? &*cluster_ : nullptr}),
        workers_({clock, log, metrics_, serving_, exchangesPage_, descriptors_, options.workers, relay_, options.zone,
                  accessLog_}) {}

  int run();

 private:
  std::unique_ptr<control::Source> makeSource();
  control::Publisher& publisher() { return servesTraffic() ? static_cast<control::Publisher&>(serving_) : without_; }
  bool servesTraffic() const { return options_.command != Command::kController; }
  base::Status open();
  base::Status openAdmin();
  void onServed(const control::Revisions&, const control::Generation& now, std::string_view) override { adopt(now); }
  void onRefreshed(const control::Generation& now) override { adopt(now); }
  void adopt(const control::Generation& served);
  base::Status serve(const control::Loaded& first);
  void end();
  void stop();
  bool isReady() const;
  const base::Settings& settings() const;
  bool isPod() const { return options_.kubernetes && options_.kubernetes->kubeconfig.empty(); }
  base::Duration drainDelay() const;
  control::Revisions revisions() const;
  control::Moment moment() const { return {clock_.now(), clock_.wallNow()}; }
  void makePages();
  std::function<AdminDocument()> whenServing(std::function<AdminDocument()> page) const;
  AdminDocument metricsPage();
  AdminDocument setLogLevel(std::string_view name);
  void clearRevision(std::string_view query, AdminAnswer answer);
  std::vector<PageLimit> limits();

  const Options& options_;
  observe::Log& log_;
  const base::Clock& clock_;
  const DescriptorShares descriptors_;
  const base::Settings defaults_;
  observe::MetricsRegistry metrics_;
  net::Worker main_;
  observe::MetricShard mainMetrics_;
  std::vector<net::ListenSocket> adminSockets_;
  AdminPages adminPages_;
  AdminPages healthPages_;
  AdminActions adminActions_;
  const AdminActions healthActions_;
  AdminServer admin_;  // outlives all objects that may have answers of it
  net::BeatGroup beats_;
  ExchangesPage exchangesPage_{main_};
  ExplainAnswers explain_{main_};
  std::optional<ClusterLink> cluster_;  // outlives the source
  std::unique_ptr<control::Source> source_;
  observe::EventRing events_;
  const control::EventRelay relay_{main_, events_};
  HealthChecks healthChecks_{main_, mainMetrics_, log_, events_};
  control::LoadingThread loader_;
  Serving serving_;
  WithoutTraffic without_;
  control::Reloader reloader_;
  control::CertificateWatch certificates_{events_, main_.timers(), clock_, reloader_};
  AccessLogFile accessLog_{{log_, events_, main_.timers(), clock_, [this] { reloader_.reload(); }}};
  ValidateAction validate_{loader_, reloader_, serving_};
  control::SeenEndpoints seenEndpoints_;
  SharedText statusText_;
  SharedText catalogText_;
  observe::RecentProcessMetrics processMetrics_{SLUICE_VERSION, buildCommit()};
  WorkerGroup workers_;
  LivePage livePage_{{main_, metrics_, mainMetrics_, exchangesPage_, events_, reloader_, seenEndpoints_, options_.zone,
                      countedBy(options_), [this] { return revisions(); }, [this] { return loader_.ledger(); },
                      [this] { return limits(); }, [this] { return draining_; }}};
  std::uint64_t countedLost_ = 0;  // lines of the process log
  bool draining_ = false;
  bool leaving_ = false;  // the cluster is being notified that this process ends
  bool stopped_ = false;
};

/// Returns the defaults until the first configuration is loaded.
const base::Settings& Process::settings() const {
  return reloader_.generation() != nullptr ? reloader_.generation()->snapshot->settings : defaults_;
}

/// Returns the revisions. The file of the access log may be refused for reasons that no check of its path finds, such
/// as a pipe that nobody reads.
control::Revisions Process::revisions() const {
  control::Revisions revisions = reloader_.revisions();
  const std::string& fault = accessLog_.fault();
  if (fault.empty() || revisions.standing != control::Standing::kServed) return revisions;
  config::Problem problem = config::settingsProblem(reloader_.known()->model, config::Severity::kError,
                                                    "accessLog.path", fault + "; requests are served without it");
  const auto isKnown = [&](const config::Problem& each) {
    return each.object == problem.object && each.field == problem.field;
  };
  if (std::any_of(revisions.problems->begin(), revisions.problems->end(), isKnown)) return revisions;
  auto all = std::make_shared<config::Problems>(*revisions.problems);
  all->push_back(std::move(problem));
  revisions.problems = std::move(all);
  return revisions;
}

/// Clients of a Service connect to a Pod that ends until the Service has learnt about it.
base::Duration Process::drainDelay() const {
  if (!servesTraffic()) return base::Duration::zero();
  return settings().drainDelay.value_or(isPod() ? kDrainDelayInPod : base::Duration::zero());
}

std::unique_ptr<control::Source> Process::makeSource() {
  std::unique_ptr<control::Source> own = makeOwnSource(options_, main_, log_);
  if (!options_.kubernetes) return own;
  cluster_.emplace(*options_.kubernetes, main_, mainMetrics_, log_);
  return cluster_->makeSource(std::move(own));
}

base::Status Process::open() {
  beats_.add(admin_);
  beats_.add(healthChecks_);
  if (cluster_) {
    beats_.add(cluster_->beats());
    if (base::Status opened = cluster_->open(); !opened.ok()) return opened;
  }
  main_.setBeats(&beats_);
  return openAdmin();
}

base::Status Process::openAdmin() {
  std::vector<net::Address> addresses{options_.admin, options_.health};
  // "All addresses" are those of both families, if the machine has both.
  const bool both = options_.health == *net::Address::parse("::", options_.health.port());
  if (both) addresses.back() = *net::Address::parse("0.0.0.0", options_.health.port());
  for (const net::Address& at : addresses) {
    auto socket = net::ListenSocket::open(at);
    if (!socket.ok()) return socket.error();
    adminSockets_.push_back(std::move(*socket));
  }
  if (both) {
    auto socket = net::ListenSocket::open(*net::Address::parse("::", adminSockets_.back().address().port()));
    if (socket.ok()) adminSockets_.push_back(std::move(*socket));
  }
  if (!options_.admin.isLoopback()) {
    log_.warn("the admin port has no authentication and is not on loopback", {{"address", options_.admin.toString()}});
  }
  makePages();
  admin_.setBounds(adminBounds(settings(), descriptors_.adminConnections));
  admin_.serve(adminSockets_[0], adminPages_, adminActions_);
  for (std::size_t i = 1; i < adminSockets_.size(); ++i) {
    admin_.serve(adminSockets_[i], healthPages_, healthActions_, /*anyHost=*/true);
  }
  return base::Done{};
}

/// Called when another configuration is served.
void Process::adopt(const control::Generation& served) {
  admin_.setBounds(adminBounds(served.snapshot->settings, descriptors_.adminConnections));
  certificates_.adopt(*served.snapshot, reloader_.configuration()->certificates);
  if (!servesTraffic()) return;
  healthChecks_.adopt(*served.snapshot);
  seenEndpoints_.adopt(*served.snapshot, moment());
}

AdminDocument loadingPage() { return {503, "text/plain; charset=utf-8", "no configuration is served yet\n"}; }

std::function<AdminDocument()> Process::whenServing(std::function<AdminDocument()> page) const {
  return [this, page = std::move(page)]() -> AdminDocument {
    return reloader_.configuration() != nullptr ? page() : loadingPage();
  };
}

void Process::makePages() {
  const auto metrics = [this] { return metricsPage(); };
  adminPages_["/status"] = [this] {
    if (reloader_.known() == nullptr) return loadingPage();
    // Endpoints change their states without another configuration.
    const control::ListedEndpoints endpoints = control::listEndpoints(*reloader_.known(), seenEndpoints_, moment());
    const auto make = [&] {
      return control::statusDocument(*reloader_.known(), revisions(), options_.zone, endpoints, countedBy(options_));
    };
    const std::string version = reloader_.version() + endpoints.endpoints + endpoints.leftOut + accessLog_.fault();
    return AdminDocument{200, "application/json", statusText_.of(version, make)};
  };
  adminPages_["/catalog"] = whenServing([this] {
    const auto make = [this] {
      const control::CompiledConfiguration& served = *reloader_.configuration();
      return config::supportedKindsJson(*served.catalog, config::kindsConfigMap(served.model)) + "\n";
    };
    return AdminDocument{200, "application/json", catalogText_.of(reloader_.version(), make)};
  });
  adminPages_["/explain"] = [this](AdminAnswer answer, std::string_view query) {
    if (reloader_.configuration() == nullptr) return answer.give(loadingPage());
    explain_.ask(*reloader_.configuration(), query, std::move(answer));
  };
  adminPages_["/events"] = [this] { return AdminDocument{200, "application/json", events_.document()}; };
  adminPages_["/revisions"] = [this] {
    return AdminDocument{200, "application/json", control::ledgerDocument(*loader_.ledger())};
  };
  adminPages_["/log-level"] = [this] {
    return AdminDocument{200, "text/plain; charset=utf-8", std::string(observe::logLevelName(log_.level())) + "\n"};
  };
  adminActions_["/log-level"] = {
      [this](const AdminPost& post, AdminAnswer answer) {
        answer.give(setLogLevel(post.body.substr(0, post.body.find_last_not_of("\r\n ") + 1)));
      },
      http::Method::kPut};
  adminActions_["/revisions/clear"] = [this](AdminPost post, AdminAnswer answer) {
    clearRevision(post.query, std::move(answer));
  };
  if (options_.adminValidate) {
    adminActions_["/validate"] = [this](AdminPost post, AdminAnswer answer) {
      validate_.ask(std::move(post), std::move(answer));
    };
  }
  adminPages_["/metrics"] = metrics;
  addPageFiles(adminPages_);
  adminPages_["/page/data"] = [this](AdminAnswer answer) { livePage_.look(std::move(answer)); };
  adminPages_["/page/rows"] = [this](std::string_view query) { return livePage_.rows(query); };
  adminPages_["/exchanges"] = [this](AdminAnswer answer) { exchangesPage_.ask(std::move(answer)); };
  healthPages_["/metrics"] = metrics;
  healthPages_["/healthz"] = [] { return AdminDocument{200, "text/plain; charset=utf-8", "ok\n"}; };
  healthPages_["/readyz"] = [this] {
    return isReady() ? AdminDocument{200, "text/plain; charset=utf-8", "ready\n"}
                     : AdminDocument{503, "text/plain; charset=utf-8", "not ready\n"};
  };
}

AdminDocument Process::setLogLevel(std::string_view name) {
  constexpr const char* kPlain = "text/plain; charset=utf-8";
  const auto level = observe::parseLogLevel(name);
  if (!level.ok()) return {400, kPlain, level.error().detail + "\n"};
  log_.setLevel(*level);
  return {200, kPlain, std::string(observe::logLevelName(*level)) + "\n"};
}

/// Lets a tainted revision be tried again, and tries it.
void Process::clearRevision(std::string_view query, AdminAnswer answer) {
  constexpr std::string_view kName = "revision=";
  const std::string prefix(query.starts_with(kName) ? query.substr(kName.size()) : "");
  if (prefix.empty()) {
    return answer.give(
        {400, "text/plain; charset=utf-8", "revision is missing, as in /revisions/clear?revision=HASH\n"});
  }
  const auto waiting = std::make_shared<AdminAnswer>(std::move(answer));
  reloader_.retry(prefix, [prefix, waiting](bool cleared) {
    waiting->give(cleared ? AdminDocument{200, "text/plain; charset=utf-8", "revision " + prefix + " is tried again\n"}
                          : AdminDocument{404, "text/plain; charset=utf-8",
                                          "there is not exactly one tainted revision that begins with '" + prefix +
                                              "': `sluice revisions` lists them\n"});
  });
}

std::vector<PageLimit> Process::limits() {
  SharedBudgets* budgets = workers_.budgets();
  if (budgets == nullptr || reloader_.generation() == nullptr) return {};
  return pageLimits(*budgets, workers_.clients(), *reloader_.generation()->snapshot);
}

AdminDocument Process::metricsPage() {
  const std::uint64_t lost = log_.dropped();
  mainMetrics_.at<observe::Metric::kLogLinesDropped>().add(lost - std::exchange(countedLost_, lost));
  auto pieces = [this, reader = observe::MetricsReader(metrics_), counted = false](std::string& out) mutable {
    if (reader.read(out, AdminConnection::kPieceBytes) || !out.empty()) return true;
    if (std::exchange(counted, true)) return false;
    processMetrics_.append(out, main_.now());
    control::appendConfigMetrics(out, reloader_.known().get(), revisions(), countedBy(options_));
    healthChecks_.appendMetrics(out);
    return true;
  };
  return {200, std::string(observe::MetricsRegistry::kContentType), AdminBody::Pieces(std::move(pieces))};
}

base::Status Process::serve(const control::Loaded& first) {
  const control::Generation& generation = *first.generation;
  if (!servesTraffic()) {
    log_.info("compiling", {{"version", SLUICE_VERSION}, {"revision", generation.revision}});
    return base::Done{};
  }
  if (base::Status started = workers_.start(first.generation, config::settingsOwner(first.configuration->model));
      !started.ok())
    return started;
  admin_.setBounds(adminBounds(generation.snapshot->settings, descriptors_.adminConnections));
  for (const BoundSocket& bound : serving_.sockets(generation))
    log_.info("listening", {{"address", bound.socket->address().toString()}});
  if (first.outcome != control::Loaded::Outcome::kServable) {
    log_.warn("every request is refused until there is a configuration that can be served");
    return base::Done{};
  }
  log_.info("serving", {{"version", SLUICE_VERSION},
                        {"workers", workers_.size()},
                        {"admin", adminSockets_[0].address().toString()},
                        {"health", adminSockets_[1].address().toString()},
                        {"revision", generation.revision}});
  main_.post([this] {  // once the configuration is served
    adopt(*reloader_.generation());
  });
  return base::Done{};
}

// Called inside a Turn. Those who look at the page are told the end in this turn, before their connections go. Giving
// the Lease back takes a moment, or seconds if the API server does not answer.
void Process::end() {
  livePage_.close();
  if (!cluster_) return main_.post([this] { stop(); });
  leaving_ = true;
  cluster_->leave([this] { stop(); });
}

// Called inside a Turn: the clients of the admin port are dropped now, and the loop ends with it.
void Process::stop() {
  if (std::exchange(stopped_, true)) return;
  log_.info("stopped");
  source_->close();
  if (cluster_) cluster_->shutdown();
  healthChecks_.shutdown();
  explain_.shutdown();
  admin_.shutdown();
  main_.stop();
}

// A Pod that ends stays ready until it accepts no more requests: if no other Pod of its Service is ready, it still gets
// them. A load balancer, on the other hand, goes by this page alone.
bool Process::isReady() const {
  const bool leaving = isPod() ? workers_.draining() : draining_;
  const bool serves = !leaving && reloader_.generation() != nullptr;
  return serves && (!servesTraffic() || reloader_.configuration()->isServedHere());
}

int Process::run() {
  // Made before anything is opened: a signal that arrives while the process starts is handled like a later one.
  Shutdown shutdown(main_, workers_, [this] { end(); });
  const auto stop = [&] {
    draining_ = true;
    reloader_.stop();
    if (leaving_) return main_.post([this] { this->stop(); });
    if (!shutdown.begun()) log_.info("draining; another signal exits at once");
    shutdown.request({drainDelay(), settings().drainTimeout});
  };
  const net::SignalWatch terminate(main_, SIGTERM, stop);
  const net::SignalWatch interrupt(main_, SIGINT, stop);
  const net::SignalWatch hangUp(main_, SIGHUP, [this] {
    accessLog_.reopen();
    reloader_.reload();
  });
  const net::SignalWatch debug(main_, SIGUSR1, [this] {
    const bool detailed = log_.enabled(observe::LogLevel::kDebug);
    log_.setLevel(detailed ? std::max(options_.logLevel, observe::LogLevel::kInfo) : observe::LogLevel::kDebug);
  });
  // The ports of operators and probes come first, because a configuration may take long to load.
  if (const base::Status opened = open(); !opened.ok()) {
    log_.error("cannot start", {{"reason", opened.error().detail}});
    return 1;
  }
  source_->watch(reloader_);
  reloader_.observe(serving_);
  if (cluster_) cluster_->report(reloader_, events_, {servesTraffic(), options_.admin.port()});
  reloader_.observe(*this);
  reloader_.start([this](const control::Loaded& first) { return serve(first); });
  main_.run();
  workers_.end();
  return 0;
}

}  // namespace

int runProcess(const Options& options, const processing::BuiltinTypes& processors) {
  fillStandardStreams();
  forbidCoreFiles();
  shareFreedMemory();
  net::ignoreFailedWrites();
  const base::SystemClock clock;
  observe::Log log(options.logLevel, clock, observe::LineFile::over(STDERR_FILENO));
  Process process(options, processors, log, clock);
  return process.run();
}

}  // namespace sluice::server
