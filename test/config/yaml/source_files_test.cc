// Tests that all files are read from the same version of a folder that is replaced as a whole, and that files are read
// again only if they may have changed.
#include "config/load/source_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A folder with files in several versions, one of which a link selects. A test reads a pipe between two of the files.
/// The reader waits at it until the test has replaced the version.
class ReplacedFolder : public ::testing::Test {
 protected:
  ReplacedFolder() {
    if (::mkdtemp(folder_.data()) == nullptr || ::mkfifo(pipe_.c_str(), 0600) != 0) std::abort();
  }
  ~ReplacedFolder() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove(pipe_);
  }

  /// Makes the next version and changes the link to it.
  void replace(const std::string& link) {
    const std::string version = "..version" + std::to_string(++version_);
    std::filesystem::create_directory(folder_ + "/" + version);
    for (const char* name : {"a.yaml", "b.yaml"}) std::ofstream(folder_ + "/" + version + "/" + name) << version_;
    std::filesystem::create_symlink(version, folder_ + "/..tmp");
    std::filesystem::rename(folder_ + "/..tmp", folder_ + "/" + link);
  }

  /// Turns the folder into one that the kubelet mounts for a ConfigMap, whose files are links through `..data`.
  void mount() {
    replace("..data");
    for (const std::string name : {"a.yaml", "b.yaml"}) {
      std::filesystem::create_symlink("..data/" + name, folder_ + "/" + name);
    }
  }

  /// Returns the texts of the paths. Each time that the reader is at the pipe, `meanwhile` is called with the number of
  /// earlier times.
  std::vector<std::string> readWhile(const std::vector<std::string>& paths, const std::function<void(int)>& meanwhile) {
    std::atomic<bool> done = false;
    std::thread other([&] {
      for (;;) {
        const int at = ::open(pipe_.c_str(), O_WRONLY | O_CLOEXEC);  // this waits for the reader
        if (!done) {
          // The next reading waits at a new pipe.
          static_cast<void>(::mkfifo((pipe_ + ".next").c_str(), 0600));
          std::filesystem::rename(pipe_ + ".next", pipe_);
          meanwhile(readings_++);
        }
        ::close(at);
        if (done) return;
      }
    });
    std::vector<std::string> texts;
    for (const auto& text : readSourceFiles(paths, kReadAllFiles, cache_, problems_)) {
      texts.emplace_back(text->text.reveal());
    }
    done = true;
    const int release = ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    other.join();
    ::close(release);
    return texts;
  }

  std::string folder_ = ::testing::TempDir() + "replaced.XXXXXX";
  std::string pipe_ = ::testing::TempDir() + "replaced-pipe." + std::to_string(::getpid());
  int version_ = 0;
  int readings_ = 0;
  TextCache cache_;
  Problems problems_;
};

TEST_F(ReplacedFolder, IsReadAgainIfDataWasSwappedBetweenTwoOfItsFiles) {
  mount();
  const std::vector<std::string> files = {folder_ + "/a.yaml", pipe_, folder_ + "/b.yaml"};
  EXPECT_THAT(readWhile(files,
                        [&](int before) {
                          if (before == 0) replace("..data");
                        }),
              ElementsAre("2", "", "2"));
  EXPECT_EQ(readings_, 2);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ReplacedFolder, IsReadAgainAsAWhole) {
  mount();
  EXPECT_THAT(readWhile({folder_, pipe_, folder_},
                        [&](int before) {
                          if (before < 3) replace("..data");
                        }),
              ElementsAre("4", "4", "", "4", "4"));
  EXPECT_EQ(readings_, 4);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ReplacedFolder, IsReadOnceIfNothingChanges) {
  mount();
  EXPECT_THAT(readWhile({folder_, pipe_}, [](int) {}), ElementsAre("1", "1", ""));
  EXPECT_EQ(readings_, 1);
}

TEST_F(ReplacedFolder, IsAnErrorIfItIsReplacedEachTime) {
  mount();
  EXPECT_THAT(readWhile({folder_, pipe_}, [&](int) { replace("..data"); }), IsEmpty());
  EXPECT_EQ(readings_, 5);
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_EQ(problems_[0].severity, Severity::kError);
  EXPECT_EQ(problems_[0].position.fileName(), folder_);
  EXPECT_THAT(problems_[0].message, HasSubstr("was replaced each time"));
}

TEST_F(ReplacedFolder, HasOneVersionThoughItIsALinkItself) {
  replace("current");
  const std::string current = folder_ + "/current";
  EXPECT_THAT(readWhile({current + "/a.yaml", pipe_, current},
                        [&](int before) {
                          if (before == 0) replace("current");
                        }),
              ElementsAre("2", "", "2", "2"));
}

TEST_F(ReplacedFolder, KeepsTheProblemsOfItsLastReadingAlone) {
  mount();
  const std::string absent = folder_ + "/absent.yaml";
  readWhile({absent, pipe_}, [&](int before) {
    if (before == 0) replace("..data");
  });
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_EQ(problems_[0].position.fileName(), absent);
}

/// A folder whose files are read repeatedly. The kernel reports which of them are opened.
class KeptFiles : public ::testing::Test {
 protected:
  KeptFiles() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ::inotify_add_watch(events_, folder_.c_str(), IN_OPEN);
  }
  ~KeptFiles() override {
    ::close(events_);
    std::filesystem::remove_all(folder_);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    opened();
  }
  /// Returns the names of the files that were opened since the last call.
  std::vector<std::string> opened() {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 4096> buffer;
    ssize_t size = 0;
    while ((size = ::read(events_, buffer.data(), buffer.size())) > 0) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(&buffer.at(static_cast<std::size_t>(at)));
        if (event->len > 0) names.emplace_back(event->name);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return names;
  }
  /// Reads the folder as if it were this much later.
  std::vector<std::string> read(std::chrono::seconds later) {
    std::vector<std::string> texts;
    const base::WallTime now = base::SystemClock().wallNow() + later;
    for (const auto& text : readSourceFiles({folder_}, now, cache_, problems_)) {
      texts.emplace_back(text->text.reveal());
    }
    cache_.sweep();
    return texts;
  }

  static constexpr std::chrono::seconds kSoon{0};
  static constexpr std::chrono::seconds kMuchLater{60};
  std::string folder_ = ::testing::TempDir() + "kept.XXXXXX";
  int events_ = -1;
  TextCache cache_;
  Problems problems_;
};

TEST_F(KeptFiles, AreNotReadAgainIfTheyHaveNotChanged) {
  write("a.yaml", "a");
  write("b.yaml", "b");
  EXPECT_THAT(read(kMuchLater), ElementsAre("a", "b"));
  EXPECT_THAT(opened(), ElementsAre("a.yaml", "b.yaml"));
  EXPECT_THAT(read(kMuchLater), ElementsAre("a", "b"));
  EXPECT_THAT(opened(), IsEmpty());
}

TEST_F(KeptFiles, AreReadAgainIfTheyChanged) {
  write("a.yaml", "a");
  write("b.yaml", "b");
  read(kMuchLater);
  write("b.yaml", "longer");
  opened();
  EXPECT_THAT(read(kMuchLater), ElementsAre("a", "longer"));
  EXPECT_THAT(opened(), ElementsAre("b.yaml"));
}

TEST_F(KeptFiles, AreReadAgainIfAnotherFileTookTheirPlace) {
  write("a.yaml", "a");
  read(kMuchLater);
  write("next", "b");
  std::filesystem::last_write_time(folder_ + "/next", std::filesystem::last_write_time(folder_ + "/a.yaml"));
  std::filesystem::rename(folder_ + "/next", folder_ + "/a.yaml");
  EXPECT_THAT(read(kMuchLater), ElementsAre("b"));
}

TEST_F(KeptFiles, AreReadAgainIfTheyChangedJustBeforeTheyWereRead) {
  write("a.yaml", "a");
  read(kSoon);
  opened();
  EXPECT_THAT(read(kSoon), ElementsAre("a"));
  EXPECT_THAT(opened(), ElementsAre("a.yaml")) << "a second change could have left the same times";
}

TEST_F(KeptFiles, ShareTheTextsThatDidNotChange) {
  write("a.yaml", "a");
  const auto text = [this] { return readSourceFiles({folder_}, kReadAllFiles, cache_, problems_).at(0); };
  const auto first = text();
  EXPECT_EQ(text(), first);
}

TEST_F(KeptFiles, AreFoundInTheFoldersBelow) {
  for (const char* below : {"/a/b", "/.hidden", "/empty", "/text"}) {
    std::filesystem::create_directories(folder_ + below);
  }
  write("a/b/x.yaml", "a");
  write(".hidden/x.yaml", "a");
  write("text/x.txt", "a");
  std::filesystem::create_directory_symlink(folder_ + "/a", folder_ + "/link");
  EXPECT_THAT(configurationFolders(folder_, problems_), ElementsAre(folder_ + "/a/b"));
  write("x.json", "{}");
  EXPECT_THAT(configurationFolders(folder_, problems_), ElementsAre(folder_, folder_ + "/a/b"));
  EXPECT_TRUE(problems_.empty());
  EXPECT_THAT(configurationFolders(folder_ + "/nowhere", problems_), IsEmpty());
  EXPECT_EQ(problems_.size(), 1u);
}

/// Prevents the process from opening another file.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int free = ::dup(STDERR_FILENO);
    ::close(free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(free);
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(SourceFiles, AFolderThatCannotBeOpenedIsNoEmptyFolder) {
  TextCache cache;
  Problems problems;
  {
    const NoDescriptors none;
    readSourceFiles({::testing::TempDir()}, kReadAllFiles, cache, problems);
  }
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].severity, Severity::kError);
  EXPECT_THAT(problems[0].message, HasSubstr("cannot be read: "));
}

}  // namespace
}  // namespace sluice::config
