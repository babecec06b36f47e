#include "proxy/observe/line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <system_error>

namespace sluice::observe {
namespace {

constexpr int kFlags = O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
constexpr int kPipeBytes = 1024 * 1024;

/// Returns how many bytes were written; 0 with errno set if none.
std::size_t writeSome(int fd, std::string_view bytes) {
  ssize_t count = 0;
  do {
    errno = 0;
    count = ::write(fd, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

LineFile::End failure() { return errno == EAGAIN ? LineFile::End::kBusy : LineFile::End::kFailed; }

base::Error unwritable(const std::string& path, int error) {
  return base::Error::config("cannot open " + path + " for writing: " + std::generic_category().message(error));
}

base::Result<int> openByPath(const std::string& path) {
  const int fd = ::open(path.c_str(), kFlags | O_CREAT, 0640);
  if (fd >= 0) return fd;
  return unwritable(path, errno);
}

bool isOwnStream(const std::string& path) { return path == "/dev/stdout" || path == "/dev/stderr"; }

int duplicate(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }

}  // namespace

base::Result<std::unique_ptr<LineFile>> LineFile::open(const std::string& path) {
  if (path == "/dev/stdout") return over(STDOUT_FILENO);
  if (path == "/dev/stderr") return over(STDERR_FILENO);
  const auto fd = openByPath(path);
  if (!fd.ok()) return fd.error();
  return std::unique_ptr<LineFile>(new LineFile(*fd, path));
}

std::unique_ptr<LineFile> LineFile::unopened(const std::string& path) {
  return std::unique_ptr<LineFile>(new LineFile(-1, path));
}

base::Status LineFile::check(const std::string& path) {
  if (isOwnStream(path)) return base::Done{};
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) return unwritable(path, EISDIR);
    return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? base::Status(base::Done{})
                                                                      : unwritable(path, errno);
  }
  if (errno != ENOENT) return unwritable(path, errno);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return base::Done{};
  return unwritable(path, errno);
}

base::Status LineFile::reopen() {
  if (path_.empty()) return base::Done{};
  const auto fd = openByPath(path_);
  if (!fd.ok()) return fd.error();
  {
    const std::lock_guard lock(mutex_);
    writeRest();
    rest_.clear();  // readers of the new file do not have the beginning of this line
    if (fd_ < 0) {
      fd_ = *fd;
      return base::Done{};
    }
    ::dup3(*fd, fd_, O_CLOEXEC);
  }
  ::close(*fd);
  return base::Done{};
}

std::unique_ptr<LineFile> LineFile::over(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return std::unique_ptr<LineFile>(new LineFile(-1));
  // A regular file never answers EAGAIN, and a separate open file description would overwrite lines that others print
  // through this one.
  if (S_ISREG(facts.st_mode)) return std::unique_ptr<LineFile>(new LineFile(duplicate(fd)));
  // The file is opened again, so that O_NONBLOCK does not affect others: it belongs to the open file description, which
  // a shell may share.
  int own = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), kFlags);
  if (own < 0) {  // a socket, or a pipe of another user
    own = duplicate(fd);
    const int flags = ::fcntl(own, F_GETFL);
    if (flags >= 0) ::fcntl(own, F_SETFL, flags | O_NONBLOCK);
  }
  // Room for a burst between two reads of a slow collector. Not every system allows it.
  if (S_ISFIFO(facts.st_mode)) ::fcntl(own, F_SETPIPE_SZ, kPipeBytes);
  return std::unique_ptr<LineFile>(new LineFile(own));
}

LineFile::~LineFile() {
  if (fd_ >= 0) ::close(fd_);
}

LineFile::Outcome LineFile::write(std::string_view lines) {
  assert(lines.empty() || lines.back() == '\n');
  const std::lock_guard lock(mutex_);
  Outcome outcome;
  if (fd_ < 0 && !path_.empty()) {
    outcome.end = End::kUnopened;
    return outcome;
  }
  while (true) {
    outcome.end = writeRest();
    if (outcome.end != End::kDone || outcome.taken == lines.size()) return outcome;
    const std::size_t count = writeSome(fd_, lines.substr(outcome.taken));
    if (count == 0) {
      outcome.end = failure();
      return outcome;
    }
    const std::size_t written = outcome.taken + count;
    const bool torn = lines[written - 1] != '\n';
    outcome.taken = torn ? lines.find('\n', written) + 1 : written;
    rest_.assign(lines.substr(written, outcome.taken - written));
  }
}

LineFile::End LineFile::writeRest() {
  while (!rest_.empty()) {
    const std::size_t count = writeSome(fd_, rest_);
    if (count == 0) return failure();
    rest_.erase(0, count);
  }
  return End::kDone;
}

}  // namespace sluice::observe
