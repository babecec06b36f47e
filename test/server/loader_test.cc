// The thread that loads: what it hands over, to whom, and how it ends.
#include "proxy/server/loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

class LoaderThreads : public ::testing::Test {
 protected:
  LoaderThreads() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write(8080);
    loader_.emplace(std::vector<std::string>{folder_ + "/gateway.yaml"}, processors_, log_, main_);
  }
  ~LoaderThreads() override { std::filesystem::remove_all(folder_); }

  void write(int port) const {
    std::ofstream(folder_ + "/gateway.yaml")
        << "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
           "spec: {controllerName: sluice.dev/egress-gateway}\n"
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\n"
           "spec:\n  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: "
        << port << "}]\n";
  }
  void breakIt() const { std::ofstream(folder_ + "/gateway.yaml") << "{[" << std::endl; }

  /// What comes of the next load.
  Loaded load() {
    std::optional<Loaded> got;
    loader_->load(served_.configuration, served_.generation, [&](Loaded&& loaded) {
      EXPECT_EQ(std::this_thread::get_id(), main_thread_);
      got = std::move(loaded);
    });
    EXPECT_TRUE(test::runUntil(main_, [&] { return got.has_value(); }));
    return std::move(*got);
  }

  const std::thread::id main_thread_ = std::this_thread::get_id();
  std::string folder_ = ::testing::TempDir() + "loader.XXXXXX";
  test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
  const processing::BuiltinTypes processors_;
  Loaded served_;
  std::optional<Loader> loader_;
};

TEST_F(LoaderThreads, HandsOverAWholeGenerationWithTheObjectsThatThereAre) {
  served_ = load();
  EXPECT_FALSE(served_.unchanged);
  ASSERT_NE(served_.generation, nullptr) << served_.refusal;
  EXPECT_EQ(served_.generation->revision, served_.configuration.revision);
  EXPECT_TRUE(served_.generation->objects.contains("test/egress"));
}

TEST_F(LoaderThreads, SaysWhenNothingHasChanged) {
  served_ = load();
  const Loaded again = load();
  EXPECT_TRUE(again.unchanged);
  EXPECT_EQ(again.generation, nullptr);
  write(8081);
  const Loaded other = load();
  EXPECT_FALSE(other.unchanged);
  ASSERT_NE(other.generation, nullptr);
  EXPECT_NE(other.configuration.revision, served_.configuration.revision);
}

TEST_F(LoaderThreads, SaysWhyAConfigurationCanNotBeServed) {
  served_ = load();
  breakIt();
  const Loaded broken = load();
  EXPECT_FALSE(broken.unchanged);
  EXPECT_EQ(broken.generation, nullptr);
  EXPECT_FALSE(broken.refusal.empty());
  write(8080);
  EXPECT_TRUE(load().unchanged) << "it is compared with what is served";
}

TEST_F(LoaderThreads, WhatIsServedMayBeReadMeanwhile) {
  served_ = load();
  for (int i = 0; i < 20; ++i) {
    write(9000 + i);
    std::optional<Loaded> got;
    loader_->load(served_.configuration, served_.generation, [&](Loaded&& loaded) { got = std::move(loaded); });
    const control::Revisions revisions;
    std::size_t length = 0;
    ASSERT_TRUE(test::runUntil(main_, [&] {
      length += control::statusDocument(served_.configuration, revisions).size();
      return got.has_value();
    }));
    EXPECT_GT(length, 0u);
    std::swap(served_, *got);
    loader_->discard(std::move(got->configuration), std::move(got->generation));
  }
}

TEST_F(LoaderThreads, EndsInTheMidstOfWhatItIsAt) {
  for (int i = 0; i < 20; ++i) {
    loader_.emplace(std::vector<std::string>{folder_ + "/gateway.yaml"}, processors_, log_, main_);
    loader_->load(served_.configuration, nullptr, [](Loaded&&) {});
    if (i % 2 == 0) loader_->discard({}, nullptr);
    loader_.reset();
  }
}

}  // namespace
}  // namespace sluice::server
