#include "proxy/observe/line_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "test/observe/support.h"

namespace sluice::observe {
namespace {

using End = LineFile::End;

std::string lineOf(std::size_t size, char c) { return std::string(size - 1, c) + "\n"; }

TEST(LineFile, MakesAFileThatOthersCannotRead) {
  TempPath temp;
  auto file = LineFile::open(temp.path());
  ASSERT_TRUE(file.ok());
  const LineFile::Outcome outcome = (*file)->write("one\ntwo\n");
  EXPECT_EQ(outcome.end, End::kDone);
  EXPECT_EQ(outcome.taken, 8u);
  EXPECT_EQ(temp.read(), "one\ntwo\n");
  struct stat state {};
  ASSERT_EQ(::stat(temp.path().c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0007, 0u);
}

TEST(LineFile, AppendsToAnExistingFile) {
  TempPath temp;
  LineFile::open(temp.path()).value()->write("one\n");
  LineFile::open(temp.path()).value()->write("two\n");
  EXPECT_EQ(temp.read(), "one\ntwo\n");
}

TEST(LineFile, GoesOnInANewFileOnceTheOldOneWasMovedAway) {
  TempPath temp;
  const std::string moved = temp.path() + ".1";
  auto file = LineFile::open(temp.path()).value();
  file->write("one\n");
  ASSERT_EQ(::rename(temp.path().c_str(), moved.c_str()), 0);
  file->write("two\n");
  EXPECT_TRUE(file->reopen().ok());
  file->write("three\n");
  EXPECT_EQ(temp.read(), "three\n");
  std::ifstream old(moved);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), "one\ntwo\n");
  ::unlink(moved.c_str());
}

TEST(LineFile, GoesOnInTheOldFileIfANewOneCannotBeMade) {
  TempPath temp;
  auto file = LineFile::open(temp.path()).value();
  ASSERT_EQ(::unlink(temp.path().c_str()), 0);
  ASSERT_EQ(::mkdir(temp.path().c_str(), 0700), 0);
  EXPECT_FALSE(file->reopen().ok());
  EXPECT_EQ(file->write("one\n").end, End::kDone);
  ::rmdir(temp.path().c_str());
}

TEST(LineFile, NamesAPathThatItCannotOpen) {
  const auto file = LineFile::open("/proc/no/such/file");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().origin, base::ErrorOrigin::kConfig);
  EXPECT_NE(file.error().detail.find("/proc/no/such/file"), std::string::npos);
}

TEST(LineFile, IsOpenedLaterIfItCouldNotBeOpened) {
  TempPath temp;
  ASSERT_EQ(::mkdir(temp.path().c_str(), 0700), 0);
  ASSERT_FALSE(LineFile::open(temp.path()).ok());
  const auto file = LineFile::unopened(temp.path());
  const LineFile::Outcome outcome = file->write("lost\n");
  EXPECT_EQ(outcome.end, End::kUnopened);
  EXPECT_EQ(outcome.taken, 0u);
  EXPECT_FALSE(file->reopen().ok());
  EXPECT_EQ(file->write("lost\n").end, End::kUnopened);
  ASSERT_EQ(::rmdir(temp.path().c_str()), 0);
  EXPECT_TRUE(file->reopen().ok());
  EXPECT_EQ(file->write("one\n").end, End::kDone);
  EXPECT_TRUE(file->reopen().ok()) << "and then rotated like any other";
  EXPECT_EQ(file->write("two\n").end, End::kDone);
  EXPECT_EQ(temp.read(), "one\ntwo\n");
}

TEST(LineFile, KnowsWithoutMakingItWhetherItCanBeOpened) {
  TempPath temp;
  EXPECT_TRUE(LineFile::check(temp.path()).ok());
  struct stat state {};
  EXPECT_NE(::stat(temp.path().c_str(), &state), 0) << "it was not made";
  LineFile::open(temp.path()).value()->write("one\n");
  EXPECT_TRUE(LineFile::check(temp.path()).ok());
  for (const char* good : {"/dev/stdout", "/dev/stderr", "/dev/full", "relative.log"}) {
    EXPECT_TRUE(LineFile::check(good).ok()) << good;
  }
  for (const std::string& bad : {std::string("/"), std::string("/proc/no/such/file"), temp.path() + "/below"}) {
    const auto checked = LineFile::check(bad);
    ASSERT_FALSE(checked.ok()) << bad;
    EXPECT_EQ(checked.error().detail, LineFile::open(bad).error().detail);
  }
}

TEST(LineFile, TakesNothingFromAnEmptyWrite) {
  TempPath temp;
  auto file = LineFile::open(temp.path());
  EXPECT_EQ((*file)->write({}).end, End::kDone);
}

TEST(LineFile, FailsOnAFullDisk) {
  auto file = LineFile::open("/dev/full");
  ASSERT_TRUE(file.ok());
  const LineFile::Outcome outcome = (*file)->write("lost\n");
  EXPECT_EQ(outcome.end, End::kFailed);
  EXPECT_EQ(outcome.taken, 0u);
}

TEST(LineFile, FailsOnAClosedDescriptor) {
  int fd = -1;
  {
    LogPipe pipe;
    fd = ::fcntl(pipe.writer(), F_DUPFD_CLOEXEC, 200);
    ::close(fd);
  }
  EXPECT_EQ(LineFile::over(fd)->write("lost\n").end, End::kFailed);
}

TEST(LineFile, FailsOnAPipeWithoutAReader) {
  LogPipe pipe;
  const auto file = LineFile::over(pipe.writer());
  pipe.closeReader();
  EXPECT_EQ(file->write("lost\n").end, End::kFailed);
}

TEST(LineFile, NeverWaitsForAReaderAndNeverTearsALine) {
  LogPipe pipe;
  const auto file = LineFile::over(pipe.writer());
  std::string sent;
  LineFile::Outcome outcome;
  for (char c = 'a'; outcome.end == End::kDone; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
    const std::string lines = lineOf(3001, c) + lineOf(70000, c);
    outcome = file->write(lines);
    ASSERT_TRUE(outcome.taken == 0 || outcome.taken == 3001 || outcome.taken == lines.size());
    sent += lines.substr(0, outcome.taken);
  }
  EXPECT_EQ(outcome.end, End::kBusy);
  EXPECT_EQ(file->write("none\n").taken, 0u) << "still full";

  std::string seen = pipe.read();
  EXPECT_EQ(file->write("after\n").end, End::kDone);
  seen += pipe.read();
  EXPECT_EQ(seen, sent + "after\n") << "the rest of the torn line came first";
}

TEST(LineFile, FinishesATornLineForTheNextReaderOfAPipe) {
  TempPath temp;
  ASSERT_EQ(::mkfifo(temp.path().c_str(), 0600), 0);
  LogPipe ignoresSigpipe;
  int reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
  auto file = LineFile::open(temp.path());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->write(lineOf(100'000, 'x')).end, End::kBusy);
  ::close(reader);
  EXPECT_EQ((*file)->write("lost\n").end, End::kFailed);

  reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
  std::string seen(200'000, '\0');
  seen.resize(static_cast<std::size_t>(::read(reader, seen.data(), seen.size())));
  EXPECT_EQ((*file)->write("after\n").end, End::kDone);
  std::string more(200'000, '\0');
  more.resize(static_cast<std::size_t>(::read(reader, more.data(), more.size())));
  ::close(reader);
  EXPECT_EQ(seen + more, lineOf(100'000, 'x') + "after\n") << "what the first reader left stayed in the pipe";
}

TEST(LineFile, LeavesTheCallersPipeBlocking) {
  LogPipe pipe;
  const auto file = LineFile::over(pipe.writer());
  EXPECT_EQ(::fcntl(pipe.writer(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(LineFile, WritesToASocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto file = LineFile::over(ends[0]);
  EXPECT_EQ(file->write("line\n").end, End::kDone);
  char seen[16];
  EXPECT_EQ(::read(ends[1], seen, sizeof seen), 5);
  EXPECT_EQ(file->write(std::string(10'000'000, 'x') + "\n").end, End::kBusy);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LineFile, SharesTheFileOffsetWithItsCaller) {
  TempPath temp;
  const int fd = ::open(temp.path().c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(fd, "before\n", 7), 7);
  LineFile::over(fd)->write("line\n");
  ASSERT_EQ(::write(fd, "behind\n", 7), 7);
  ::close(fd);
  EXPECT_EQ(temp.read(), "before\nline\nbehind\n");
}

TEST(LineFile, FinishesTheTornLineOnceTheDiskHasRoomAgain) {
  TempPath temp;
  auto file = LineFile::open(temp.path());
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit tight { 1000, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string lines = lineOf(600, 'a') + lineOf(600, 'b') + lineOf(600, 'c');
  const LineFile::Outcome outcome = (*file)->write(lines);
  EXPECT_EQ((*file)->write("lost\n").end, End::kFailed);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(outcome.end, End::kFailed);
  EXPECT_EQ(outcome.taken, 1200u);
  EXPECT_EQ((*file)->write("after\n").end, End::kDone);
  EXPECT_EQ(temp.read(), lineOf(600, 'a') + lineOf(600, 'b') + "after\n");
}

}  // namespace
}  // namespace sluice::observe
