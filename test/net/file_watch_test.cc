#include "proxy/net/files/file_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/net/no_more_descriptors.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Uses real files and events, and moves time by hand: an event makes the call due, and only the passing of time makes
/// it.
class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    if (::mkdtemp(root_.data()) == nullptr) std::abort();
    folder_ = root_ + "/conf";
    fs::create_directory(folder_);
  }
  ~FileWatchTest() override { fs::remove_all(root_); }

  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  FileWatch::WatchOptions options(std::vector<std::string> paths) const {
    FileWatch::WatchOptions options;
    options.paths = std::move(paths);
    options.takes = [](std::string_view name) { return name.ends_with(".yaml") && !name.starts_with('.'); };
    options.look = 24h;  // so that only events matter
    return options;
  }
  std::unique_ptr<FileWatch> make(FileWatch::WatchOptions options) {
    const Worker::Turn turn(worker_);
    return std::make_unique<FileWatch>(
        worker_, std::move(options), [this] { ++calls_; },
        [this](const base::Error& error) { weakened_.push_back(error.detail); });
  }
  void watch(std::vector<std::string> paths) { watch_ = make(options(std::move(paths))); }

  void pass(base::Duration time) {
    clock_.advance(time);
    const Worker::Turn turn(worker_);
  }
  /// Returns true if a call has become due.
  bool noticed() {
    const auto due = [&] { return worker_.timers().nextDue() < clock_.now() + 2s; };
    return test::runUntil(worker_, due);
  }
  /// Returns true if one change has been noticed, and is reported once it has paused.
  bool told() {
    const int before = calls_;
    if (!noticed()) return false;
    pass(200ms + TimerWheel::kTick);
    return calls_ == before + 1;
  }

  std::string root_ = ::testing::TempDir() + "file_watch_test.XXXXXX";
  std::string folder_;
  test::ManualClock clock_;
  Worker worker_{clock_};
  int calls_ = 0;
  std::vector<std::string> weakened_;
  std::unique_ptr<FileWatch> watch_;
};

TEST_F(FileWatchTest, ReportsAFileThatIsWrittenInPlace) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_ + "/a.yaml"});
  for (const char* text : {"2", "3"}) {
    write(folder_ + "/a.yaml", text);
    EXPECT_TRUE(told()) << text;
  }
  EXPECT_TRUE(weakened_.empty());
}

TEST_F(FileWatchTest, ReportsRepeatedReplacementsByRename) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_ + "/a.yaml"});
  for (const char* text : {"2", "3", "4"}) {
    write(folder_ + "/.a.yaml.new", text);
    fs::rename(folder_ + "/.a.yaml.new", folder_ + "/a.yaml");
    EXPECT_TRUE(told()) << text;
  }
}

TEST_F(FileWatchTest, ReportsFilesThatComeAndGoInAFolder) {
  watch({folder_ + "/"});
  write(folder_ + "/a.yaml", "1");
  EXPECT_TRUE(told());
  fs::rename(folder_ + "/a.yaml", folder_ + "/b.yaml");
  EXPECT_TRUE(told());
  fs::remove(folder_ + "/b.yaml");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, ReportsAFileThatDidNotExistBefore) {
  watch({folder_ + "/a.yaml"});
  write(folder_ + "/a.yaml", "1");
  EXPECT_TRUE(told());
  fs::remove(folder_ + "/a.yaml");
  EXPECT_TRUE(told());
}

/// Writes a volume as the kubelet does: a.yaml -> ..data/a.yaml, ..data -> ..one, which is swapped by a rename.
class MountedTest : public FileWatchTest {
 protected:
  MountedTest() {
    publish("..one", "1");
    fs::create_symlink("..data/a.yaml", folder_ + "/a.yaml");
  }
  void publish(const std::string& version, std::string_view text) {
    fs::create_directory(folder_ + "/" + version);
    write(folder_ + "/" + version + "/a.yaml", text);
    fs::create_directory_symlink(version, folder_ + "/..data_tmp");
    fs::rename(folder_ + "/..data_tmp", folder_ + "/..data");
  }
};

TEST_F(MountedTest, ReportsAConfigMapThatIsSwappedByItsLink) {
  watch({folder_});
  publish("..two", "2");
  EXPECT_TRUE(told());
  fs::remove_all(folder_ + "/..one");
  EXPECT_TRUE(told());
  publish("..three", "3");
  EXPECT_TRUE(told());
}

TEST_F(MountedTest, ReportsASwapForASingleWatchedFile) {
  watch({folder_ + "/a.yaml"});
  publish("..two", "2");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, ReportsAFolderThatVanishesAndComesBack) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_});
  for (int round = 0; round < 2; ++round) {
    fs::remove_all(folder_);
    EXPECT_TRUE(told()) << round;
    fs::create_directory(folder_);
    EXPECT_TRUE(told()) << round;
    write(folder_ + "/a.yaml", "2");
    EXPECT_TRUE(told()) << round;
  }
}

TEST_F(FileWatchTest, ReportsTheFolderOfAFileThatVanishesAndComesBack) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_ + "/a.yaml"});
  fs::remove_all(folder_);
  EXPECT_TRUE(told());
  fs::create_directory(folder_);
  EXPECT_TRUE(told());
  write(folder_ + "/a.yaml", "2");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, FollowsAFolderThatReplacesAnother) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_});
  fs::rename(folder_, root_ + "/old");
  fs::create_directory(folder_);
  EXPECT_TRUE(told());
  write(folder_ + "/a.yaml", "2");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, FollowsALinkToAFolderThatIsSwapped) {
  fs::create_directory(root_ + "/other");
  fs::create_directory_symlink(folder_, root_ + "/link");
  watch({root_ + "/link"});
  fs::create_directory_symlink(root_ + "/other", root_ + "/new");
  fs::rename(root_ + "/new", root_ + "/link");
  EXPECT_TRUE(told());
  write(root_ + "/other/a.yaml", "1");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, ReportsABurstOnceAfterItsEnd) {
  watch({folder_});
  for (int i = 0; i < 200; ++i) write(folder_ + "/" + std::to_string(i % 20) + ".yaml", std::to_string(i));
  ASSERT_TRUE(noticed());
  pass(199ms);
  EXPECT_EQ(calls_, 0);
  pass(TimerWheel::kTick);
  EXPECT_EQ(calls_, 1);
  pass(10s);
  EXPECT_EQ(calls_, 1);
}

TEST_F(FileWatchTest, IgnoresFilesThatDoNotCount) {
  write(folder_ + "/a.yaml", "1");
  watch({folder_, root_ + "/b.yaml"});
  int proofs = 0;
  const FileWatch proof(
      worker_, options({folder_ + "/noise.txt", root_ + "/noise.txt"}), [&] { ++proofs; }, [](const base::Error&) {});
  for (const char* name : {"/.a.yaml.swp", "/.b.yaml", "/a.yaml~", "/noise.txt"}) {
    write(folder_ + name, "1");
    write(root_ + name, "1");
  }
  ASSERT_TRUE(noticed());
  pass(1s);
  EXPECT_EQ(proofs, 1);
  EXPECT_EQ(calls_, 0);
}

TEST_F(FileWatchTest, ReportsEachWatchedPathOfOneFolder) {
  watch({folder_ + "/a.yaml", folder_ + "/b.txt"});
  write(folder_ + "/a.yaml", "1");
  EXPECT_TRUE(told());
  write(folder_ + "/b.txt", "1");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, SupportsRelativePaths) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  watch({"a.yaml"});
  fs::current_path(before);
  write(folder_ + "/a.yaml", "1");
  EXPECT_TRUE(told());
}

TEST_F(FileWatchTest, FindsChangesWithoutAnEventByLooking) {
  // The file is in a folder that is not watched.
  write(root_ + "/elsewhere", "1");
  fs::create_directory(root_ + "/far");
  fs::rename(root_ + "/elsewhere", root_ + "/far/a.yaml");
  fs::create_symlink(root_ + "/far/a.yaml", folder_ + "/a.yaml");
  FileWatch::WatchOptions slow = options({folder_});
  slow.look = 10s;
  watch_ = make(std::move(slow));
  pass(10s + TimerWheel::kTick);
  pass(1s);
  EXPECT_EQ(calls_, 0);
  write(root_ + "/far/a.yaml", "22");
  pass(5s);
  EXPECT_EQ(calls_, 0);
  pass(5s);
  pass(200ms + TimerWheel::kTick);
  EXPECT_EQ(calls_, 1);
  pass(30s);
  pass(1s);
  EXPECT_EQ(calls_, 1);
}

TEST_F(FileWatchTest, ReportsOnceThatTheSystemRefusesToWatchAndLooksInstead) {
  write(folder_ + "/a.yaml", "1");
  FileWatch::WatchOptions slow = options({folder_ + "/a.yaml"});
  slow.look = 10s;
  {
    const test::NoMoreDescriptors scarce;
    watch_ = make(slow);
    ASSERT_EQ(weakened_.size(), 1U);
    EXPECT_EQ(weakened_[0], "cannot watch " + folder_ + ": too many open files");
    pass(30s);
    EXPECT_EQ(calls_, 0);
    ASSERT_EQ(::truncate((folder_ + "/a.yaml").c_str(), 7), 0);
    pass(10s + TimerWheel::kTick);
    pass(200ms + TimerWheel::kTick);
    EXPECT_EQ(calls_, 1);
    EXPECT_EQ(weakened_.size(), 1U);
  }
  pass(10s + TimerWheel::kTick);  // the look that renews its watch
  write(folder_ + "/a.yaml", "2");
  EXPECT_TRUE(told());
  EXPECT_EQ(weakened_.size(), 1U);
}

TEST_F(FileWatchTest, ReportsNoChangeForAFolderThatCannotBeListedForNow) {
  write(folder_ + "/a.yaml", "1");
  FileWatch::WatchOptions slow = options({folder_});
  slow.look = 10s;
  watch_ = make(slow);
  {
    const test::NoMoreDescriptors scarce;
    pass(10s + TimerWheel::kTick);
    pass(1s);
  }
  pass(10s);
  pass(1s);
  EXPECT_EQ(calls_, 0);
}

TEST_F(FileWatchTest, ReportsChangesAsTimePasses) {
  const base::SystemClock clock;
  Worker worker(clock);
  FileWatch::WatchOptions quick = options({folder_});
  quick.quiet = 1ms;
  int calls = 0;
  const FileWatch watch(
      worker, std::move(quick), [&] { ++calls; }, [](const base::Error&) {});
  write(folder_ + "/a.yaml", "1");
  EXPECT_TRUE(test::runUntil(worker, [&] { return calls > 0; }));
}

TEST_F(FileWatchTest, ReportsNothingAfterItsDestruction) {
  watch({folder_});
  write(folder_ + "/a.yaml", "1");
  ASSERT_TRUE(noticed());
  watch_.reset();
  pass(10s);
  EXPECT_EQ(calls_, 0);
}

TEST_F(FileWatchTest, OutlivesTheLoop) {
  watch({folder_});
  worker_.stop();
  worker_.run();
  SUCCEED();
}

}  // namespace
}  // namespace sluice::net
