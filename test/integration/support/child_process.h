// Runs programs for a test: they are started without a shell, their output is captured, and they are killed with the
// test in any case.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sluice::test {

/// Long enough for a busy machine and a binary under sanitizers; a passing test never waits for it.
inline constexpr std::chrono::seconds kPatience{120};

class ChildProcess {
 public:
  /// argv[0] is a path, or is looked for in PATH and the system's sbin folders. The program's standard input is empty.
  explicit ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});
  /// Kills the program if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Returns the first line of either output that holds `text`, or nothing if it did not appear in time or the program
  /// ended without it.
  std::optional<std::string> waitForLine(std::string_view text, std::chrono::milliseconds patience = kPatience);
  /// Returns how often `text` occurs in both outputs so far.
  std::size_t said(std::string_view text) const;
  /// Waits until `text` occurs there this often; returns false if that does not happen in time or before the program
  /// ends.
  bool waitUntilSaid(std::string_view text, std::size_t times, std::chrono::milliseconds patience = kPatience);
  /// Returns at least `count` whole lines of standard output, or as many as there were in time.
  std::vector<std::string> waitForLines(std::size_t count, std::chrono::milliseconds patience = kPatience);
  void signal(int number) const;
  /// Returns the exit code (128 + n if signal n ended the program), or -1 after killing a program that takes too long.
  int wait(std::chrono::milliseconds patience = kPatience);

  std::string output() const;
  std::string errors() const;
  /// Returns the program's resident memory (VmRSS), in KiB.
  std::size_t residentKib() const { return memoryKib("VmRSS:"); }
  /// Returns the peak of its resident memory (VmHWM), in KiB.
  std::size_t peakKib() const { return memoryKib("VmHWM:"); }
  /// Returns the CPU time used in user mode and in the kernel, in steps of 10 ms.
  double cpuSeconds() const;

 private:
  std::size_t memoryKib(std::string_view line) const;
  void collect(int outFd, int errFd, int endFd);

  pid_t pid_ = -1;
  std::optional<int> status_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::string err_;
  bool ended_ = false;
  std::thread collector_;
};

struct ProgramOutcome {
  int exitCode = -1;
  std::string output;
  std::string errors;
};

/// Runs a program to its end.
ProgramOutcome run(const std::vector<std::string>& argv, std::chrono::milliseconds patience = kPatience);

/// Returns true if run() and ChildProcess would find the program.
bool isInstalled(const std::string& program);

/// Returns the content of a file; empty if it cannot be read.
std::string readFile(const std::string& path);

/// A folder of the test's own, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace sluice::test
