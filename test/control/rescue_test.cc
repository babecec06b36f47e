// Tests that a process can start from an earlier configuration that its source keeps.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/loading_thread.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::control {
namespace {

/// A source whose earlier configurations the test sets.
class KeepingSource final : public Source {
 public:
  config::ObjectSet read(const base::Secret& key) override { return readText("{[", key); }
  std::size_t earlier() override { return kept.size(); }
  config::ObjectSet readEarlier(std::size_t which, const base::Secret& key) override {
    ++readings;
    config::ObjectSet set = readText(kept.at(which), key);
    set.unavailable = kept.at(which).empty();
    if (set.unavailable) set.refused = "unavailable";
    return set;
  }
  void watch(Reloadable&) override {}

  std::vector<std::string> kept;
  int readings = 0;

 private:
  static config::ObjectSet readText(const std::string& text, const base::Secret& key) {
    config::TextCache cache;
    return config::readTexts({{"kept", text}}, {}, key, cache);
  }
};

class Rescues : public testing::Test {
 protected:
  static std::string gatewayAt(int port) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
           "spec: {controllerName: sluice.dev/egress-gateway}\n"
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\n"
           "spec:\n  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(port) + "}]\n";
  }
  /// Returns the port of the only listener; 0 if there is no good configuration.
  int rescuedPort() {
    std::optional<Loaded> got;
    loader_.rescue({}, [&](Loaded&& loaded) { got = std::move(loaded); });
    EXPECT_TRUE(sluice::test::runUntil(main_, [&] { return got.has_value(); }));
    outcome_ = got->outcome;
    return got->outcome == Loaded::Outcome::kServable ? got->generation->snapshot->binds.at(0).port : 0;
  }

  sluice::test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
  KeepingSource source_;
  Loaded::Outcome outcome_ = Loaded::Outcome::kServable;  // of the last rescue
  const processing::BuiltinTypes processors_;
  LoadingThread loader_{source_, processors_, log_, main_};
};

TEST_F(Rescues, TakeTheNewestGoodConfiguration) {
  EXPECT_EQ(rescuedPort(), 0);
  source_.kept = {gatewayAt(8081), gatewayAt(8082)};
  EXPECT_EQ(rescuedPort(), 8081);
  EXPECT_EQ(source_.readings, 1);
  source_.kept = {"{[", gatewayAt(8082)};
  EXPECT_EQ(rescuedPort(), 8082) << "the first one is of no use";
  source_.kept = {"{["};
  EXPECT_EQ(rescuedPort(), 0);
}

TEST_F(Rescues, EndAtTheFirstConfigurationThatCannotBeReadNow) {
  source_.kept = {"", gatewayAt(8082)};
  EXPECT_EQ(rescuedPort(), 0) << "the next one could not be read, either";
  EXPECT_EQ(source_.readings, 1);
  EXPECT_EQ(outcome_, Loaded::Outcome::kUnavailable) << "so that it is tried again";
}

}  // namespace
}  // namespace sluice::control
