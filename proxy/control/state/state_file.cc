#include "proxy/control/state/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "proxy/pki/digest.h"

namespace sluice::control {
namespace {

// The first line names the format and its version; the second is the SHA-256 of the lines after it. The fields follow
// as netstrings: LENGTH ":" BYTES ",".
constexpr std::string_view kFormat = "sluice-state 1\n";
constexpr std::size_t kDigestLine = 65;

base::Error failed(const std::string& path, const char* what) {
  return base::Error::config(path + ": " + what + ": " + std::strerror(errno));
}

/// A descriptor that is closed at the end.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool ok() const { return fd_ >= 0; }
  bool writeAll(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool sync() const { return ::fsync(fd_) == 0; }

 private:
  const int fd_;
};

std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Takes one netstring off `rest`.
std::optional<std::string_view> takeField(std::string_view& rest) {
  std::size_t length = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  if (parsed.ec != std::errc{}) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
  if (rest.size() < 2 || rest.front() != ':' || length > rest.size() - 2 || rest[length + 1] != ',')
    return std::nullopt;
  const std::string_view field = rest.substr(1, length);
  rest.remove_prefix(length + 2);
  return field;
}

}  // namespace

base::Status makeStateFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed(path, "cannot make this folder");
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return failed(path, "cannot use this folder");
  if (!S_ISDIR(found.st_mode)) return base::Error::config(path + ": is no folder");
  constexpr mode_t kOthers = 077;
  if ((found.st_mode & kOthers) != 0 && ::chmod(path.c_str(), 0700) != 0)
    return failed(path, "cannot keep others out of this folder");
  return base::Done{};
}

base::Status writeStateFile(const std::string& path, const std::vector<std::string_view>& fields) {
  std::string body;
  for (const std::string_view field : fields) {
    body.append(std::to_string(field.size())).append(":").append(field).append(",");
  }
  const base::Secret content(std::move(body));
  const std::string newPath = path + ".new";
  // A file that an earlier process has left there may have other permissions.
  ::unlink(newPath.c_str());
  const OpenFile file(::open(newPath.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.ok()) return failed(newPath, "cannot be written");
  const std::string head = std::string(kFormat) + pki::toHex(pki::sha256(content.reveal())) + "\n";
  if (!file.writeAll(head) || !file.writeAll(content.reveal()) || !file.sync()) {
    base::Error error = failed(newPath, "cannot be written");
    ::unlink(newPath.c_str());
    return error;
  }
  if (::rename(newPath.c_str(), path.c_str()) != 0) return failed(path, "cannot be replaced");
  const OpenFile folder(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || !folder.sync()) return failed(path, "cannot be kept");
  return base::Done{};
}

base::Result<std::vector<base::Secret>> readStateFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(path, "cannot be read");
  const base::Secret content(std::string(std::istreambuf_iterator<char>(file), {}));
  std::string_view rest = content.reveal();
  const auto damaged = [&] { return base::Error::config(path + ": is damaged"); };
  if (!rest.starts_with(kFormat) || rest.size() < kFormat.size() + kDigestLine) return damaged();
  rest.remove_prefix(kFormat.size());
  const std::string_view digest = rest.substr(0, kDigestLine - 1);
  if (rest[kDigestLine - 1] != '\n') return damaged();
  rest.remove_prefix(kDigestLine);
  if (pki::toHex(pki::sha256(rest)) != digest) return damaged();
  std::vector<base::Secret> fields;
  while (!rest.empty()) {
    const std::optional<std::string_view> field = takeField(rest);
    if (!field) return damaged();
    fields.emplace_back(std::string(*field));
  }
  return fields;
}

}  // namespace sluice::control
