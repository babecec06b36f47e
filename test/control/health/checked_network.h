// A health checker over a network in memory, at the pace of a test's clock.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/health/health_checker.h"
#include "test/support/fake_network.h"
#include "test/support/health_checks.h"
#include "test/support/http_peers.h"
#include "test/support/manual_clock.h"

namespace sluice::control {

/// A checker of Backends whose connections and answers a test provides.
class CheckedNetwork : public testing::Test, private HealthObserver {
 protected:
  CheckedNetwork() {
    resolver_.know("backend.test", {"192.0.2.1"});
    worker_.setBeats(&checker_);
  }
  ~CheckedNetwork() override {
    const net::Worker::Turn turn(worker_);
    checker_.shutdown();
  }

  /// Returns a Backend with a check for each of the settings.
  template <typename... Settings>
  routing::CheckedBackend backend(Settings... settings) const {
    return {plan(), sluice::test::checkedBy(std::move(settings)...), {}};
  }
  static std::shared_ptr<const routing::BackendPlan> plan() {
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->name = "demo/backend";
    plan->identity = "backend";
    plan->hostname = "backend.test";
    plan->port = 8080;
    plan->authority = "backend.test:8080";
    return plan;
  }
  /// Returns a Backend of that namespace, at that port of the same host.
  template <typename... Settings>
  static routing::CheckedBackend backendOf(const std::string& nameSpace, std::uint16_t port, Settings... settings) {
    auto own = std::make_shared<routing::BackendPlan>(*plan());
    own->name = nameSpace + "/" + std::to_string(port);
    own->object = "Backend.sluice.dev/" + own->name;
    own->port = port;
    return {own, sluice::test::checkedBy(std::move(settings)...), {}};
  }
  static routing::HealthCheckSettings byTcp() { return {}; }
  static routing::HealthCheckSettings byHttp() {
    routing::HealthCheckSettings settings;
    settings.kind = routing::HealthCheckKind::kHttp;
    settings.path = "/healthz";
    settings.expectedStatuses = {200};
    return settings;
  }
  /// Returns a check that waits for its answer as long as a test takes.
  static routing::HealthCheckSettings patient(const std::string& path,
                                              base::Duration interval = std::chrono::seconds(1)) {
    routing::HealthCheckSettings settings = byHttp();
    settings.path = path;
    settings.interval = interval;
    settings.timeout = std::chrono::hours(10);
    return settings;
  }
  void adopt(std::vector<routing::CheckedBackend> checked) {
    {
      const net::Worker::Turn turn(worker_);
      checker_.adopt({*routing::AddressGuard::make({"192.0.2.0/24"}), {}, {}, 1024, 0}, perSecond_, std::move(checked));
    }
    settle();
  }
  void settle() {
    for (int quiet = 0; quiet < 2;) {
      bool moved = false;
      { const net::Worker::Turn turn(worker_); }
      for (std::size_t i = 0; i < dialer_.wires.size(); ++i) moved = acceptNext(i) || dialer_.wires[i]->pump() || moved;
      for (const auto& peer : peers_) moved = peer->pump() || moved;
      quiet = moved ? 0 : quiet + 1;
    }
  }
  void advance(base::Duration by) {
    clock_.advance(by);
    settle();
  }
  /// Lets the time of the next probe come, and answers it.
  void answer(std::uint16_t status, const std::string& body = {}) {
    const std::size_t before = probes();
    for (int i = 0; i < 100 && probes() == before; ++i) advance(std::chrono::milliseconds(100));
    ASSERT_EQ(probes(), before + 1);
    ASSERT_FALSE(peers_.empty());
    sluice::test::BackendPeer& peer = *peers_.back();
    peer.respond(peer.requests() - 1, status, body);
    settle();
  }
  /// Lets the time of the next probe of that path come, if it has not, and answers it.
  void answerAt(const std::string& path, std::uint16_t status) {
    for (int i = 0; i < 100; ++i) {
      for (const auto& peer : peers_) {
        for (std::size_t each = answered_[peer.get()]; each < peer->requests(); ++each) {
          if (peer->request(each).message.head.target != path) continue;
          answered_[peer.get()] = each + 1;
          peer->respond(each, status, "");
          return settle();
        }
      }
      advance(std::chrono::milliseconds(100));
    }
    FAIL() << "nothing asks for " << path;
  }
  std::size_t probes() const {
    std::size_t count = 0;
    for (const auto& each : peers_) count += each->requests();
    return count;
  }

  double hits() { return static_cast<double>(shard_.at<observe::Metric::kLimitHits>("probesPerSecond").value()); }

  std::uint64_t perSecond_ = 1'000'000;
  std::vector<std::string> told_;     // about Backends
  std::vector<std::string> results_;  // of checks
  bool refuses_ = false;
  std::size_t refused_ = 0;                                        // the first of the connections
  std::vector<std::unique_ptr<sluice::test::BackendPeer>> peers_;  // as their wires
  std::map<const sluice::test::BackendPeer*, std::size_t> answered_;

 private:
  bool acceptNext(std::size_t index) {
    if (index < peers_.size()) return false;
    peers_.push_back(std::make_unique<sluice::test::BackendPeer>(dialer_.wires[index], http::Version::kHttp11, clock_));
    if (refuses_ || index < refused_) {
      dialer_.wires[index]->refuse();
    } else {
      dialer_.wires[index]->accept("");
    }
    return true;
  }
  void onHealth(const routing::CheckedBackend& of, const std::optional<routing::Endpoint>& endpoint,
                const std::string& wrong) override {
    told_.push_back(of.backend->name + (endpoint ? " at " + endpoint->ip : "") +
                    (wrong.empty() ? " serves" : ": " + wrong));
  }

  void onCheck(const CheckResult& result) override {
    results_.push_back(result.check.settings().path + (result.wrong.empty() ? " passes" : " fails") +
                       (result.isChange ? ", a change" : "") + (result.allHealthy ? ", all pass" : ""));
  }

  sluice::test::ManualClock clock_;
  net::Worker worker_{clock_};
  observe::MetricsRegistry metrics_;
  observe::MetricShard shard_{metrics_};

 protected:
  sluice::test::FakeResolver resolver_{worker_};
  sluice::test::FakeDialer dialer_{worker_};
  HealthChecker checker_{{worker_, resolver_, dialer_, shard_, *this, 7}};
};

}  // namespace sluice::control
