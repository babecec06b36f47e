// A gateway without its process: configurations, workers on their threads, the acceptor, and one origin. The test's
// own thread is the main one.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/control/file_source.h"
#include "proxy/control/loading_thread.h"
#include "proxy/control/reloader.h"
#include "proxy/server/serving/serving.h"
#include "test/support/held_port.h"
#include "test/support/loop_driver.h"
#include "test/support/poll_origin.h"

namespace sluice::server {

class ServingRig {
 public:
  static constexpr std::size_t kDescriptors = 1024;
  /// The differences between configurations.
  struct Spec {
    std::vector<std::uint16_t> ports;
    std::uint16_t origin = 0;  // 0 for no route
    std::string settings = {};
  };

  explicit ServingRig(const Spec& spec, std::size_t workers) {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write(spec);
    source_.emplace(std::vector<std::string>{path()}, main_, log_);
    loader_.emplace(*source_, processors_, log_, main_);
    reloader_.emplace(control::Reloader::Parts{*loader_, serving_, main_.timers(), clock_});
    reloader_->observe(serving_);
    source_->watch(*reloader_);
    bool started = false;
    reloader_->start([&](const control::Loaded& first) -> base::Status {
      makeWorkers(workers, first.generation);
      started = true;
      return base::Done{};
    });
    EXPECT_TRUE(test::runUntil(main_, [&] { return started; }));
  }
  ~ServingRig() {
    stop();
    loader_.reset();  // it may be reading
    std::filesystem::remove_all(folder_);
  }
  ServingRig(const ServingRig&) = delete;
  ServingRig& operator=(const ServingRig&) = delete;

  void run() {
    for (const auto& runtime : runtimes_) threads_.emplace_back([worker = runtime.get()] { worker->run(); });
  }
  /// Stops everything in the process's order.
  void stop() {
    if (threads_.empty()) return;
    for (const auto& runtime : runtimes_) runtime->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  /// Returns before the configuration is loaded.
  void beginReload(const Spec& spec) {
    write(spec);
    reloadAgain();
  }
  /// Reloads the files without a change.
  void reloadAgain() {
    const net::Worker::Turn turn(main_);
    reloader_->reload();
  }
  /// Begins a reload and returns when the workers have been notified.
  void publish(const Spec& spec) {
    const std::string before = reloader_->revisions().published;
    beginReload(spec);
    EXPECT_TRUE(test::runUntil(main_, [&] { return reloader_->revisions().published != before; }));
  }
  bool reload(const Spec& spec) {
    const std::string before = reloader_->revisions().served;
    beginReload(spec);
    return test::runUntil(main_, [&] { return reloader_->revisions().served != before; });
  }
  /// Waits until no reload is under way.
  bool settles() {
    return test::runUntil(main_, [&] { return !reloader_->reloading(); });
  }
  std::uint64_t reloads(std::string_view result) { return shard_.at<observe::Metric::kConfigReloads>(result).value(); }
  control::Reloader& reloader() { return *reloader_; }
  net::Worker& main() { return main_; }

 private:
  std::string path() const { return folder_ + "/gateway.yaml"; }

  void makeWorkers(std::size_t count, const std::shared_ptr<const control::Generation>& generation) {
    std::vector<WorkerRuntime*> workers;
    for (std::size_t i = 0; i < count; ++i) {
      runtimes_.push_back(
          std::move(WorkerRuntime::make({clock_, generation, budgets_, metrics_, nullptr, "rig", i + 1})).value());
      workers.push_back(runtimes_.back().get());
    }
    acceptor_ = std::make_unique<Acceptor>(workers, kDescriptors);
    const base::Settings& settings = generation->snapshot->settings;
    acceptor_->listen(serving_.sockets(*generation), settings.limits);
    serving_.attach(workers, *acceptor_, budgets_, settings);
    runtimes_.front()->onShutdown([this] { acceptor_.reset(); });
  }

  // Another thread may be reading: it finds the old or the new file, never half of one.
  void write(const Spec& spec) const {
    const std::string fresh = folder_ + "/gateway.new";
    writeTo(fresh, spec);
    std::filesystem::rename(fresh, path());
  }
  static void writeTo(const std::string& file, const Spec& spec) {
    std::ofstream out(file);
    out << "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec:\n"
           "  controllerName: sluice.dev/egress-gateway\n"
           "  parametersRef: {group: \"\", kind: ConfigMap, namespace: test, name: settings}\n"
           "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: settings}\ndata:\n"
           "  settings.yaml: |\n"
           "    dns: {servers: [\"127.0.0.1:1\"], hosts: {origin.test: [127.0.0.1]}}\n"
           "    addressGuard: {allow: [127.0.0.0/8]}\n    "
        << spec.settings
        << "\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n"
           "metadata: {namespace: test, name: egress}\nspec:\n  gatewayClassName: test\n"
           "  addresses: [{type: IPAddress, value: 127.0.0.1}]\n  listeners:\n";
    for (const std::uint16_t port : spec.ports) {
      out << "    - {name: http-" << port << ", protocol: HTTP, port: " << port << "}\n";
    }
    if (spec.origin == 0) return;
    out << "---\napiVersion: gateway.networking.k8s.io/v1alpha1\nkind: Backend\n"
           "metadata: {namespace: test, name: origin}\nspec:\n"
           "  destination: {type: FQDN, fqdn: {hostname: origin.test, port: "
        << spec.origin
        << "}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
           "metadata: {namespace: test, name: all}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n"
           "    - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: "
        << spec.origin << "}]\n";
  }

  std::string folder_ = ::testing::TempDir() + "serving.XXXXXX";
  const base::SystemClock clock_;
  observe::Log log_{observe::LogLevel::kError, clock_, observe::LineFile::over(STDERR_FILENO)};
  observe::MetricsRegistry metrics_;
  net::Worker main_{clock_};
  observe::MetricShard shard_{metrics_};
  const processing::BuiltinTypes processors_;
  std::optional<control::FileSource> source_;
  std::optional<control::LoadingThread> loader_;
  observe::EventRing events_{log_, shard_};
  Serving serving_{log_, main_, shard_, events_};
  std::optional<control::Reloader> reloader_;
  SharedBudgets budgets_{base::LimitSettings{}};
  std::vector<std::unique_ptr<WorkerRuntime>> runtimes_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::thread> threads_;
};

}  // namespace sluice::server
