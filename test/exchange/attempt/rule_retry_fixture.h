// A fixture of exchanges by a rule that retries 503, with clients and backends of either version.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {

inline constexpr std::chrono::milliseconds kBackoff{100};

/// `more` adds to the rule.
inline test::RigOptions retrying(http::Version backend, std::uint32_t attempts,
                                 const std::function<void(routing::Rule&)>& more = {}) {
  test::RigOptions options = speaking(backend);
  options.rule = [=](routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = attempts;
    rule.retry->backoff = kBackoff;
    if (more) more(rule);
  };
  return options;
}

/// All pairs of versions of clients and backends.
class RuleRetry : public ::testing::TestWithParam<std::tuple<http::Version, http::Version>> {
 protected:
  test::Rig& make(std::uint32_t attempts = 2) { return make(retrying(backendVersion(), attempts)); }
  test::Rig& make(const test::RigOptions& options) {
    rig_.emplace(options);
    client_ = &rig_->connect(std::get<0>(GetParam()));
    return *rig_;
  }
  http::Version backendVersion() const { return std::get<1>(GetParam()); }
  std::size_t ask(const test::HeadSpec& spec) {
    const std::size_t index = client_->ask(spec);
    EXPECT_TRUE(rig_->settle());
    return index;
  }
  std::size_t get() { return ask({.target = "/ok"}); }
  std::size_t post() { return ask({.method = http::Method::kPost, .target = "/ok", .body = http::Body::kUntilEnd}); }
  void send(std::size_t index, const std::string& body) {
    client_->body(index, body);
    client_->finish(index);
    EXPECT_TRUE(rig_->settle());
  }
  test::BackendPeer& accept(std::size_t wire) { return rig_->accept(wire, backendVersion()); }
  void respond(test::BackendPeer& backend, std::uint16_t status, std::string_view text) {
    backend.respond(backend.requests() - 1, status, text);
    EXPECT_TRUE(rig_->settle());
  }
  void passBackoff(int times = 1) {
    rig_->advance(times * kBackoff * 5 / 4);
    rig_->advancePast();
  }
  std::uint16_t status(std::size_t index) { return client_->answer(index).message.head.status; }
  void expectTold(std::uint16_t status, std::uint32_t attempts) {
    ASSERT_TRUE(rig_->settle());
    ASSERT_EQ(rig_->told.size(), 1U);
    EXPECT_EQ(rig_->told[0].status, status);
    EXPECT_EQ(rig_->told[0].attempts, attempts);
    EXPECT_EQ(rig_->exchanges.size(), 0U);
    EXPECT_EQ(rig_->budget().requests.count(), 0U);
    rig_->close();
    EXPECT_EQ(rig_->worker.chunks().inUse(), 0U);
  }
  bool limited(const std::string& limit) const {
    return std::find(rig_->limits.begin(), rig_->limits.end(), limit) != rig_->limits.end();
  }
  double client(const std::string& status, const std::string& error, const std::string& method = "GET") const {
    const std::string series =
        "http_client_request_duration_seconds_count{gateway=\"demo/egress\",route=\"demo/"
        "route\",backend=\"demo/backend\",namespace=\"\",serviceAccount=\"\",http_request_method=\"" +
        method +
        "\","
        "http_response_status_code=\"" +
        status + "\",error_type=\"" + error + "\"} ";
    const std::string page = rig_->metricsText();
    const std::size_t at = page.find(series);
    return at == std::string::npos ? 0 : std::stod(page.substr(at + series.size()));
  }

  std::optional<test::Rig> rig_;
  test::ClientPeer* client_ = nullptr;
};

}  // namespace sluice::exchange
