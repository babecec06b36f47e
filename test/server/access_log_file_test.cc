#include "proxy/server/serving/access_log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using End = observe::LineFile::End;

class AccessLogFileTest : public testing::Test {
 protected:
  AccessLogFileTest() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~AccessLogFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/below/access.log"; }
  void makeFolder() const { std::filesystem::create_directory(folder_ + "/below"); }
  void passASecond() {
    clock_.advance(AccessLogFile::kTryAgainAfter + net::TimerWheel::kTick);
    timers_.advance(clock_.now());
  }

  std::string folder_ = testing::TempDir() + "access_log_file.XXXXXX";
  test::ManualClock clock_;
  net::TimerWheel timers_{clock_.now()};
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  observe::MetricsRegistry registry_;
  observe::MetricShard metrics_{registry_};
  observe::EventRing events_{log_, metrics_};
  int recovered_ = 0;
  AccessLogFile accessLog_{{log_, events_, timers_, clock_, [this] { ++recovered_; }}};
};

TEST_F(AccessLogFileTest, IsOpenOrOffWithoutAWord) {
  makeFolder();
  accessLog_.open(path(), "ConfigMap demo/settings");
  EXPECT_EQ(accessLog_.file()->write("one\n").end, End::kDone);
  EXPECT_EQ(accessLog_.fault(), "");
  accessLog_.open("off", "ConfigMap demo/settings");
  EXPECT_EQ(accessLog_.file(), nullptr);
  accessLog_.reopen();
  EXPECT_EQ(events_.document(), "[]\n");
  EXPECT_EQ(recovered_, 0);
}

TEST_F(AccessLogFileTest, IsTriedEverySecondUntilItCanBeOpened) {
  accessLog_.open(path(), "ConfigMap demo/settings");
  EXPECT_EQ(accessLog_.file()->write("lost\n").end, End::kUnopened);
  EXPECT_THAT(accessLog_.fault(), HasSubstr("No such file or directory"));
  EXPECT_THAT(events_.document(),
              AllOf(HasSubstr("\"reason\":\"AccessLogUnavailable\",\"object\":\"ConfigMap demo/settings\""),
                    HasSubstr("cannot open " + path()), Not(HasSubstr("AccessLogOpened"))));
  passASecond();
  EXPECT_NE(accessLog_.fault(), "");
  makeFolder();
  passASecond();
  EXPECT_EQ(accessLog_.fault(), "");
  EXPECT_EQ(recovered_, 1);
  EXPECT_THAT(events_.document(), HasSubstr("AccessLogOpened"));
  EXPECT_EQ(accessLog_.file()->write("one\n").end, End::kDone);
  passASecond();
  EXPECT_EQ(recovered_, 1);
}

TEST_F(AccessLogFileTest, IsOpenedByARotationToo) {
  accessLog_.open(path(), "");
  makeFolder();
  accessLog_.reopen();
  EXPECT_EQ(accessLog_.fault(), "");
  EXPECT_EQ(recovered_, 1);
}

TEST_F(AccessLogFileTest, ForgetsAFaultOfTheFileBefore) {
  accessLog_.open(path(), "");
  accessLog_.open("off", "");
  EXPECT_EQ(accessLog_.fault(), "");
  makeFolder();
  passASecond();
  EXPECT_EQ(recovered_, 0);
}

}  // namespace
}  // namespace sluice::server
