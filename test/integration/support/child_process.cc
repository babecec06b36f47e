#include "test/integration/support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace sluice::test {
namespace {

struct OutputPipe {
  OutputPipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  }
  std::array<int, 2> ends{};
};

std::string findProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin";
  while (!folders.empty()) {
    const std::size_t end = folders.find(':');
    std::string candidate = folders.substr(0, end) + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders = end == std::string::npos ? "" : folders.substr(end + 1);
  }
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// This runs in the child, which may only make async-signal-safe calls.
[[noreturn]] void becomeProgram(const char* path, char** argv, char** environment, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(path, argv, environment);
  _exit(127);
}

std::vector<std::string> mergedEnvironment(const std::vector<std::string>& more) {
  std::vector<std::string> result = more;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

bool readInto(int fd, std::string& into, std::mutex& mutex) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count <= 0) return false;
  const std::lock_guard lock(mutex);
  into.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> lineWith(std::string_view text, std::string_view wanted) {
  const std::size_t at = text.find(wanted);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find('\n', at);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t before = text.rfind('\n', at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return std::string(text.substr(begin, end - begin));
}

std::size_t occurrences(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  const std::string path = findProgram(argv.at(0));
  std::vector<std::string> arguments = argv;
  std::vector<std::string> variables = mergedEnvironment(environment);
  const std::vector<char*> argumentPointers = pointers(arguments);
  const std::vector<char*> variablePointers = pointers(variables);
  const OutputPipe out;
  const OutputPipe err;
  pid_ = fork();
  if (pid_ == 0) {
    becomeProgram(path.c_str(), const_cast<char**>(argumentPointers.data()),
                  const_cast<char**>(variablePointers.data()), out.ends[1], err.ends[1]);
  }
  close(out.ends[1]);
  close(err.ends[1]);
  const int endFd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  collector_ = std::thread([this, o = out.ends[0], e = err.ends[0], endFd] { collect(o, e, endFd); });
}

ChildProcess::~ChildProcess() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  collector_.join();
}

void ChildProcess::collect(int outFd, int errFd, int endFd) {
  std::array<pollfd, 3> watched = {{{outFd, POLLIN, 0}, {errFd, POLLIN, 0}, {endFd, POLLIN, 0}}};
  // The output ends with the program; output of a grandchild that outlives it is not waited for.
  bool running = true;
  while (running) {
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    running = watched[2].revents == 0;
    bool more = true;
    while (more) {
      more = false;
      for (int i = 0; i < 2; ++i) {
        pollfd& one = watched[static_cast<std::size_t>(i)];
        if (one.fd < 0 || (one.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
        if (!readInto(one.fd, i == 0 ? out_ : err_, mutex_)) one.fd = -1;
        more = more || (!running && one.fd >= 0);
      }
      if (more) more = poll(watched.data(), 2, 0) > 0;
    }
    changed_.notify_all();
  }
  close(outFd);
  close(errFd);
  close(endFd);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::optional<std::string> ChildProcess::waitForLine(std::string_view text, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  std::optional<std::string> found;
  changed_.wait_for(lock, patience, [&] {
    found = lineWith(out_, text);
    if (!found) found = lineWith(err_, text);
    return found.has_value() || ended_;
  });
  return found;
}

std::size_t ChildProcess::said(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  return occurrences(out_, text) + occurrences(err_, text);
}

bool ChildProcess::waitUntilSaid(std::string_view text, std::size_t times, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto all = [&] { return occurrences(out_, text) + occurrences(err_, text); };
  changed_.wait_for(lock, patience, [&] { return all() >= times || ended_; });
  return all() >= times;
}

std::vector<std::string> ChildProcess::waitForLines(std::size_t count, std::chrono::milliseconds patience) {
  std::vector<std::string> lines;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] {
    lines.clear();
    for (std::size_t at = 0, end = 0; (end = out_.find('\n', at)) != std::string::npos; at = end + 1) {
      lines.push_back(out_.substr(at, end - at));
    }
    return lines.size() >= count || ended_;
  });
  return lines;
}

void ChildProcess::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

int ChildProcess::wait(std::chrono::milliseconds patience) {
  if (status_) return *status_;
  bool inTime = false;
  {
    std::unique_lock lock(mutex_);
    inTime = changed_.wait_for(lock, patience, [&] { return ended_; });
  }
  if (!inTime) ::kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  status_ = !inTime ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return *status_;
}

std::string ChildProcess::output() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

std::string ChildProcess::errors() const {
  const std::lock_guard lock(mutex_);
  return err_;
}

std::size_t ChildProcess::memoryKib(std::string_view which) const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(which)) return std::stoul(line.substr(which.size()));
  }
  return 0;
}

double ChildProcess::cpuSeconds() const {
  const std::string text = readFile("/proc/" + std::to_string(pid_) + "/stat");
  // proc(5): the name may hold anything, so fields are counted from its end; utime and stime are the 14th and the 15th.
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

ProgramOutcome run(const std::vector<std::string>& argv, std::chrono::milliseconds patience) {
  ChildProcess process(argv);
  const int code = process.wait(patience);
  return {code, process.output(), process.errors()};
}

bool isInstalled(const std::string& program) { return !findProgram(program).empty(); }

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(const std::string& name, std::string_view text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace sluice::test
