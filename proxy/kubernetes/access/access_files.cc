#include "proxy/kubernetes/access/access_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

namespace sluice::kubernetes {
namespace {

/// A file that is open for reading, and closed at the end.
class AccessFile {
 public:
  /// A pipe without a writer does not block.
  explicit AccessFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~AccessFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  AccessFile(const AccessFile&) = delete;
  AccessFile& operator=(const AccessFile&) = delete;
  bool isOpen() const { return fd_ >= 0; }
  bool look(struct stat& status) const { return ::fstat(fd_, &status) == 0; }

  /// Returns at most `most` bytes of the content; nothing if that fails, for the reason in errno. `size` is the
  /// expected size of the content.
  std::optional<std::string> read(std::size_t size, std::size_t most) const {
    // One buffer of the right size leaves no copies of a secret behind.
    std::string text(std::min(size + 1, most), '\0');
    std::size_t held = 0;
    while (held < most) {
      if (held == text.size()) text.resize(most);
      const ssize_t count = ::read(fd_, text.data() + held, text.size() - held);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return std::nullopt;
      if (count == 0) break;
      held += static_cast<std::size_t>(count);
    }
    text.resize(held);
    return text;
  }

 private:
  const int fd_;
};

base::Error fileRefused(const std::string& path, const std::string& what) {
  return base::Error::config(path + ": " + what);
}

base::Error fileUnreadable(const std::string& path, int error) {
  return fileRefused(path, "cannot be read: " + std::generic_category().message(error));
}

}  // namespace

base::Result<base::Secret> readAccessFile(const std::string& path, std::size_t maxBytes) {
  const AccessFile file(path);
  struct stat status = {};
  if (!file.isOpen() || !file.look(status)) return fileUnreadable(path, errno);
  if (S_ISDIR(status.st_mode)) return fileUnreadable(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return fileRefused(path, "is not a regular file, and could not be read again");
  std::optional<std::string> text = file.read(static_cast<std::size_t>(status.st_size), maxBytes + 1);
  if (!text) return fileUnreadable(path, errno);
  base::Secret content(*std::move(text));
  if (content.reveal().size() > maxBytes)
    return fileRefused(path, "is larger than " + std::to_string(maxBytes) + " bytes");
  return content;
}

std::string_view withoutOuterSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

base::Result<base::Secret> parseToken(std::string_view text) {
  const std::string_view token = withoutOuterSpace(text);
  if (token.empty()) return base::Error::config("the token is empty");
  if (token.size() > kMaxTokenBytes)
    return base::Error::config("the token is larger than " + std::to_string(kMaxTokenBytes) + " bytes");
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7F'; });
  if (!visible) return base::Error::config("the token holds a space, a line break or another byte that no token has");
  return base::Secret(std::string(token));
}

base::Result<base::Secret> readTokenFile(const std::string& path) {
  const base::Result<base::Secret> text = readAccessFile(path, kMaxTokenBytes);
  if (!text) return text.error();
  base::Result<base::Secret> token = parseToken(text->reveal());
  if (!token) return fileRefused(path, token.error().detail);
  return token;
}

}  // namespace sluice::kubernetes
