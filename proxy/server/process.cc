#include "proxy/server/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>
#include <random>
#include <thread>

#include "config/model/supported_kinds.h"
#include "proxy/control/compiled_configuration.h"
#include "proxy/control/file_source.h"
#include "proxy/control/loading_thread.h"
#include "proxy/control/reloader.h"
#include "proxy/net/signals.h"
#include "proxy/observe/metrics_reader.h"
#include "proxy/server/acceptor.h"
#include "proxy/server/admin.h"
#include "proxy/server/admin_connection.h"
#include "proxy/server/descriptor_shares.h"
#include "proxy/server/exchanges_page.h"
#include "proxy/server/explain/explain_page.h"
#include "proxy/server/serving.h"
#include "proxy/server/shutdown.h"
#include "proxy/server/worker_runtime.h"

namespace sluice::server {
namespace {

/// Worker threads that are stopped and joined on every way out after their start.
class Threads {
 public:
  explicit Threads(const std::vector<std::unique_ptr<WorkerRuntime>>& runtimes) : runtimes_(runtimes) {}
  ~Threads() { end(); }
  void end() {
    for (std::size_t i = 0; i < threads_.size(); ++i) runtimes_[i]->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void start() {
    for (const auto& runtime : runtimes_) threads_.emplace_back([worker = runtime.get()] { worker->run(); });
  }

 private:
  const std::vector<std::unique_ptr<WorkerRuntime>>& runtimes_;
  std::vector<std::thread> threads_;
};

// Raises the soft limit of 1024, which is too low: each client connection takes a descriptor and each backend
// connection another. Returns how many the process may have.
std::size_t raiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

/// A page's text that is made anew only when its version has changed, and is shared by all requests until then.
class SharedText {
 public:
  template <typename Make>
  AdminBody::Text of(std::string version, const Make& make) {
    if (text_ == nullptr || version != version_) text_ = std::make_shared<const std::string>(make());
    version_ = std::move(version);
    return text_;
  }

 private:
  std::string version_;
  AdminBody::Text text_;
};

class Process {
 public:
  Process(const Options& options, const processing::BuiltinTypes& processors, observe::Log& log,
          const base::Clock& clock)
      : options_(options),
        log_(log),
        clock_(clock),
        descriptors_(raiseDescriptorLimit()),
        main_(clock),
        mainMetrics_(metrics_),
        source_(options.config, main_, log),
        loader_(source_, processors, log, main_),
        serving_(log, main_, mainMetrics_),
        admin_(main_, mainMetrics_) {}

  int run();

 private:
  base::Status openAdmin();
  base::Status serve();
  void end(const base::Status& why);
  base::Status makeWorkers();
  std::uint32_t workerCount() const;
  const base::Settings& settings() const;
  void makePages();
  std::function<AdminDocument()> whenServing(std::function<AdminDocument()> page) const;
  AdminDocument metricsPage() const;
  void reopenLog();

  const Options& options_;
  observe::Log& log_;
  const base::Clock& clock_;
  const DescriptorShares descriptors_;
  const base::Settings defaults_;
  observe::MetricsRegistry metrics_;
  net::Worker main_;
  observe::MetricShard mainMetrics_;
  control::FileSource source_;
  control::LoadingThread loader_;
  Serving serving_;
  control::Reloader reloader_{{loader_, serving_, serving_, main_.timers(), clock_}};
  std::unique_ptr<observe::LineFile> accessLog_;
  std::optional<SharedBudgets> budgets_;
  std::vector<net::ListenSocket> adminSockets_;
  SharedText statusText_;
  SharedText catalogText_;
  AdminPages adminPages_;
  AdminPages healthPages_;
  std::vector<std::unique_ptr<WorkerRuntime>> runtimes_;
  std::unique_ptr<Acceptor> acceptor_;  // lives on the first worker's loop
  AdminServer admin_;
  ExchangesPage exchangesPage_{main_};  // holds answers of admin_
  Threads threads_{runtimes_};
  bool ready_ = false;
  int exitCode_ = 0;
};

// A core file would hold keys and credentials.
void forbidCoreFiles() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

// The allocator keeps what a thread has freed for the threads of the same arena. Workers take large buffers in turn
// from budgets that they share, and with an arena for each of them the process would hold the most that each worker
// ever had. There is no contention to speak of, because a request in steady state allocates nothing. The arena keeps
// what the reload of a large configuration frees and the next one takes again, which would cost page faults each time.
void shareFreedMemory() {
  constexpr int kKept = 64 * 1024 * 1024;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

std::string newInstanceName(std::random_device& random) {
  char name[32];
  std::snprintf(name, sizeof name, "sluice-%08x", random());
  return name;
}

std::uint64_t newSeed(std::random_device& random) { return (std::uint64_t{random()} << 32) | random() | 1; }

// Returns the number of cores that this process may run on, which a container's CPU set can make smaller than the
// machine's.
std::uint32_t availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Returns the defaults until the first configuration is loaded.
const base::Settings& Process::settings() const {
  return reloader_.generation() != nullptr ? reloader_.generation()->snapshot->settings : defaults_;
}

std::uint32_t Process::workerCount() const {
  const std::uint32_t asked = options_.workers.value_or(settings().workers);
  return asked != 0 ? asked : availableCores();
}

base::Status Process::openAdmin() {
  for (const net::Address& at : {options_.admin, options_.health}) {
    auto socket = net::ListenSocket::open(at);
    if (!socket.ok()) return socket.error();
    adminSockets_.push_back(std::move(*socket));
  }
  if (!options_.admin.isLoopback()) {
    log_.warn("the admin port asks nobody who they are, and other machines can reach it",
              {{"address", options_.admin.toString()}});
  }
  makePages();
  const auto setBounds = [this](const base::Settings& settings) {
    admin_.setBounds(adminBounds(settings, descriptors_.adminConnections));
  };
  setBounds(settings());
  serving_.onSettings(setBounds);
  admin_.serve(adminSockets_[0], adminPages_);
  admin_.serve(adminSockets_[1], healthPages_);
  return base::Done{};
}

AdminDocument loadingPage() { return {503, "text/plain; charset=utf-8", "the first configuration is being loaded\n"}; }

std::function<AdminDocument()> Process::whenServing(std::function<AdminDocument()> page) const {
  return [this, page = std::move(page)]() -> AdminDocument {
    return reloader_.generation() != nullptr ? page() : loadingPage();
  };
}

void Process::makePages() {
  const auto metrics = [this] { return metricsPage(); };
  adminPages_["/status"] = whenServing([this] {
    const auto make = [this] { return control::statusDocument(*reloader_.configuration(), reloader_.revisions()); };
    return AdminDocument{200, "application/json", statusText_.of(reloader_.version(), make)};
  });
  adminPages_["/catalog"] = whenServing([this] {
    const auto make = [this] {
      const control::CompiledConfiguration& served = *reloader_.configuration();
      return config::supportedKindsJson(*served.catalog, config::kindsConfigMap(served.model)) + "\n";
    };
    return AdminDocument{200, "application/json", catalogText_.of(reloader_.version(), make)};
  });
  adminPages_["/explain"] = [this](std::string_view query) {
    return reloader_.generation() != nullptr ? explainPage(*reloader_.configuration(), query) : loadingPage();
  };
  adminPages_["/metrics"] = metrics;
  adminPages_["/exchanges"] = [this](AdminAnswer answer) { exchangesPage_.ask(std::move(answer)); };
  healthPages_["/metrics"] = metrics;
  healthPages_["/healthz"] = [] { return AdminDocument{200, "text/plain; charset=utf-8", "ok\n"}; };
  healthPages_["/readyz"] = [this] {
    return ready_ ? AdminDocument{200, "text/plain; charset=utf-8", "ready\n"}
                  : AdminDocument{503, "text/plain; charset=utf-8", "not ready\n"};
  };
}

AdminDocument Process::metricsPage() const {
  auto pieces = [this, reader = observe::MetricsReader(metrics_), revisionsRead = false](std::string& out) mutable {
    if (reader.read(out, AdminConnection::kPieceBytes) || !out.empty()) return true;
    if (std::exchange(revisionsRead, true)) return false;
    out = control::revisionInfo(reloader_.revisions());
    return true;
  };
  return {200, std::string(observe::MetricsRegistry::kContentType), AdminBody::Pieces(std::move(pieces))};
}

base::Status Process::makeWorkers() {
  std::random_device random;
  const std::string instance = newInstanceName(random);
  const std::shared_ptr<const pki::ValueSealer> sessionSealer = pki::ValueSealer::withRandomKey();
  std::vector<WorkerRuntime*> workers;
  const std::uint32_t count = workerCount();
  for (std::uint32_t i = 0; i < count; ++i) {
    auto runtime = WorkerRuntime::make({clock_, reloader_.generation(), *budgets_, metrics_, accessLog_.get(), instance,
                                        newSeed(random), &log_, sessionSealer, descriptors_.backends,
                                        descriptors_.lookupsOf(count)});
    if (!runtime.ok()) return runtime.error();
    workers.push_back(runtime->get());
    exchangesPage_.addWorker([i, worker = runtime->get()](std::size_t most, ExchangesPage::Tell tell) {
      worker->listExchanges(i, most, std::move(tell));
    });
    runtimes_.push_back(std::move(*runtime));
  }
  for (WorkerRuntime* worker : workers) worker->shareAnswers(workers);
  acceptor_ = std::make_unique<Acceptor>(workers, descriptors_.clients);
  acceptor_->listen(serving_.sockets(*reloader_.generation()), settings().limits);
  serving_.attach(workers, *acceptor_, *budgets_, settings());
  reloader_.begin();
  runtimes_.front()->onShutdown([this] { acceptor_.reset(); });
  return base::Done{};
}

base::Status Process::serve() {
  const base::Settings& settings = this->settings();
  admin_.setBounds(adminBounds(settings, descriptors_.adminConnections));
  budgets_.emplace(settings.limits);
  auto accessLog = observe::openAccessLogFile(settings.accessLogPath);
  if (!accessLog.ok()) return accessLog.error();
  accessLog_ = std::move(*accessLog);
  if (base::Status made = makeWorkers(); !made.ok()) return made;
  threads_.start();
  ready_ = true;
  for (const BoundSocket& bound : serving_.sockets(*reloader_.generation()))
    log_.info("listening", {{"address", bound.socket->address().toString()}});
  log_.info("serving", {{"version", SLUICE_VERSION},
                        {"workers", runtimes_.size()},
                        {"admin", adminSockets_[0].address().toString()},
                        {"health", adminSockets_[1].address().toString()},
                        {"revision", reloader_.revisions().served}});
  return base::Done{};
}

// Called inside a Turn: the clients of the admin port are dropped now, and the loop ends with it.
void Process::end(const base::Status& why) {
  if (why.ok()) {
    log_.info("stopped");
  } else {
    log_.error("cannot start", {{"reason", why.error().detail}});
    exitCode_ = 1;
  }
  admin_.shutdown();
  main_.stop();
}

// Reopens the log after a rotation, as servers usually do on this signal.
void Process::reopenLog() {
  if (accessLog_ == nullptr) return;
  if (const base::Status reopened = accessLog_->reopen(); !reopened.ok()) {
    log_.error("the access log goes on where it was", {{"reason", reopened.error().detail}});
  }
}

int Process::run() {
  // Made before anything is opened: a signal that arrives while the process starts is handled like a later one.
  Shutdown shutdown(main_, runtimes_, [this] { end(base::Done{}); });
  const auto stop = [&] {
    ready_ = false;
    reloader_.stop();
    if (!shutdown.begun()) log_.info("draining; another signal ends at once");
    shutdown.request(settings().drainTimeout);
  };
  const net::SignalWatch terminate(main_, SIGTERM, stop);
  const net::SignalWatch interrupt(main_, SIGINT, stop);
  const net::SignalWatch hangUp(main_, SIGHUP, [this] {
    reopenLog();
    reloader_.reload();
  });
  // The ports of operators and probes come first, because a configuration may take long to load.
  if (const base::Status opened = openAdmin(); !opened.ok()) {
    log_.error("cannot start", {{"reason", opened.error().detail}});
    return 1;
  }
  source_.watch([this] { reloader_.reload(); });
  reloader_.start([this](const base::Status& loaded) {
    const base::Status served = loaded.ok() ? serve() : loaded;
    if (!served.ok()) end(served);
  });
  main_.run();
  threads_.end();
  return exitCode_;
}

// Opens standard streams that were closed. Otherwise the next file would get the number of such a stream, and
// everything that is printed.
void fillStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));  // takes the lowest free number
  }
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
