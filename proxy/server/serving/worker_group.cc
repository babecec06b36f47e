#include "proxy/server/serving/worker_group.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

namespace sluice::server {
namespace {

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

}  // namespace

std::uint32_t WorkerGroup::countFor(const base::Settings& settings) const {
  const std::uint32_t asked = parts_.workers.value_or(settings.workers);
  return asked != 0 ? asked : availableCores();
}

base::Status WorkerGroup::start(const std::shared_ptr<const control::Generation>& generation,
                                const std::string& settingsOwner) {
  end();
  const base::Settings& settings = generation->snapshot->settings;
  budgets_.emplace(settings.limits);
  parts_.accessLog.open(settings.accessLogPath, settingsOwner);
  if (base::Status made = make(generation, settingsOwner); !made.ok()) {
    end();
    return made;
  }
  for (const auto& runtime : runtimes_) threads_.emplace_back([worker = runtime.get()] { worker->run(); });
  return base::Done{};
}

base::Status WorkerGroup::make(const std::shared_ptr<const control::Generation>& generation,
                               const std::string& settingsOwner) {
  const base::Settings& settings = generation->snapshot->settings;
  std::random_device random;
  const std::string instance = newInstanceName(random);
  const std::shared_ptr<const pki::ValueSealer> sessionSealer = pki::ValueSealer::withRandomKey();
  std::vector<WorkerRuntime*> workers;
  const std::uint32_t count = countFor(settings);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto runtime =
        WorkerRuntime::make({parts_.clock, generation, *budgets_, parts_.metrics, parts_.accessLog.file(), instance,
                             newSeed(random), &parts_.log, sessionSealer, parts_.descriptors.backends,
                             parts_.descriptors.lookupsOf(count), &parts_.events, parts_.zone, settingsOwner});
    if (!runtime.ok()) return runtime.error();
    workers.push_back(runtime->get());
    runtimes_.push_back(std::move(*runtime));
    parts_.exchangesPage.addWorker([i, worker = workers.back()](std::size_t most, ExchangesPage::Tell tell) {
      worker->listExchanges(i, most, std::move(tell));
    });
  }
  for (WorkerRuntime* worker : workers) worker->shareAnswers(workers);
  acceptor_ = std::make_unique<Acceptor>(workers, parts_.descriptors.clients);
  acceptor_->listen(parts_.serving.sockets(*generation), settings.limits);
  runtimes_.front()->onShutdown([this] { acceptor_.reset(); });
  parts_.serving.attach(workers, *acceptor_, *budgets_, settings);
  return base::Done{};
}

void WorkerGroup::announceEnd() {
  for (const auto& runtime : runtimes_) runtime->announceEnd();
}

void WorkerGroup::drain() {
  draining_ = true;
  for (const auto& runtime : runtimes_) runtime->drain();
}

std::size_t WorkerGroup::clients() const {
  std::size_t total = 0;
  for (const auto& runtime : runtimes_) total += runtime->connections();
  return total;
}

void WorkerGroup::end() {
  parts_.exchangesPage.removeWorkers();
  for (std::size_t i = 0; i < threads_.size(); ++i) runtimes_[i]->stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (budgets_) budgets_->passwords.end();
  acceptor_.reset();  // it is gone already unless no thread was started
  runtimes_.clear();
}

}  // namespace sluice::server
