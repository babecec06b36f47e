// Tests the thread that loads: its results, the thread that gets them, and its end.
#include "proxy/control/loading_thread.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "proxy/control/file_source.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::control {
namespace {

class LoadingThreads : public ::testing::Test {
 protected:
  LoadingThreads() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write(8080);
    source_.emplace(std::vector<std::string>{folder_ + "/gateway.yaml"}, main_, log_);
    loader_.emplace(*source_, processors_, log_, main_);
  }
  ~LoadingThreads() override { std::filesystem::remove_all(folder_); }

  void write(int port) const {
    std::ofstream(folder_ + "/gateway.yaml")
        << "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
           "spec: {controllerName: sluice.dev/egress-gateway}\n"
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\n"
           "spec:\n  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: "
        << port << "}]\n";
  }
  void breakIt() const { std::ofstream(folder_ + "/gateway.yaml") << "{[" << std::endl; }

  /// Returns the result of the next load.
  Loaded load() {
    std::optional<Loaded> got;
    loader_->load(served_, {}, [&](Loaded&& loaded) {
      EXPECT_EQ(std::this_thread::get_id(), main_thread_);
      got = std::move(loaded);
    });
    EXPECT_TRUE(sluice::test::runUntil(main_, [&] { return got.has_value(); }));
    return std::move(*got);
  }

  const std::thread::id main_thread_ = std::this_thread::get_id();
  std::string folder_ = ::testing::TempDir() + "loader.XXXXXX";
  sluice::test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
  std::optional<FileSource> source_;
  const processing::BuiltinTypes processors_;
  Loaded served_;
  std::optional<LoadingThread> loader_;
};

TEST_F(LoadingThreads, HandOverACompleteGenerationWithItsObjects) {
  served_ = load();
  ASSERT_EQ(served_.outcome, Loaded::Outcome::kServable) << served_.refusal;
  EXPECT_EQ(served_.generation->revision, served_.configuration->revision);
  EXPECT_TRUE(served_.generation->objects.contains("test/egress"));
}

TEST_F(LoadingThreads, ReportAnUnchangedConfiguration) {
  served_ = load();
  const Loaded again = load();
  EXPECT_EQ(again.outcome, Loaded::Outcome::kUnchanged);
  EXPECT_EQ(again.generation, nullptr);
  write(8081);
  const Loaded other = load();
  ASSERT_EQ(other.outcome, Loaded::Outcome::kServable);
  EXPECT_NE(other.configuration->revision, served_.configuration->revision);
}

TEST_F(LoadingThreads, ReportWhyAConfigurationCannotBeServed) {
  served_ = load();
  breakIt();
  const Loaded broken = load();
  EXPECT_EQ(broken.outcome, Loaded::Outcome::kRefused);
  EXPECT_EQ(broken.generation, nullptr);
  EXPECT_FALSE(broken.refusal.empty());
  write(8080);
  EXPECT_EQ(load().outcome, Loaded::Outcome::kUnchanged) << "it is compared with what is served";
}

TEST_F(LoadingThreads, LetTheServedConfigurationBeReadMeanwhile) {
  served_ = load();
  for (int i = 0; i < 20; ++i) {
    write(9000 + i);
    std::optional<Loaded> got;
    loader_->load(served_, {}, [&](Loaded&& loaded) { got = std::move(loaded); });
    const Revisions revisions;
    std::size_t length = 0;
    ASSERT_TRUE(sluice::test::runUntil(main_, [&] {
      length += statusDocument(*served_.configuration, revisions).size();
      return got.has_value();
    }));
    EXPECT_GT(length, 0u);
    std::swap(served_, *got);
    loader_->discard(std::move(*got));
  }
}

TEST_F(LoadingThreads, EndDuringAJob) {
  for (int i = 0; i < 20; ++i) {
    loader_.emplace(*source_, processors_, log_, main_);
    loader_->load(served_, {}, [](Loaded&&) {});
    if (i % 2 == 0) loader_->discard({});
    loader_.reset();
  }
}

}  // namespace
}  // namespace sluice::control
