// Helpers of this folder's tests: time by hand, a file and a pipe to write to, and a strict reader of JSON lines.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/utf8.h"
#include "test/base/some_time.h"

namespace sluice::observe {

class HandClock final : public base::Clock {
 public:
  base::MonotonicTime now() const override { return {}; }
  base::WallTime wallNow() const override { return wall; }
  base::WallTime wall{};
};

using base::someTime;

/// A path in a fresh folder; both are removed with the object.
class TempPath {
 public:
  TempPath()
      : folder_(std::string(::getenv("TMPDIR") != nullptr ? ::getenv("TMPDIR") : "/tmp") + "/observe_test.XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    path_ = folder_ + "/file";
  }
  ~TempPath() {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  TempPath(const TempPath&) = delete;
  TempPath& operator=(const TempPath&) = delete;

  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }
  std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string folder_;
  std::string path_;
};

/// A pipe. It ignores SIGPIPE, as the process does: a write to a pipe without a reader is then an error and does not
/// end the process.
class LogPipe {
 public:
  LogPipe() {
    ::signal(SIGPIPE, SIG_IGN);
    if (::pipe2(ends_, O_CLOEXEC) != 0) std::abort();
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~LogPipe() {
    closeReader();
    ::close(ends_[1]);
  }
  LogPipe(const LogPipe&) = delete;
  LogPipe& operator=(const LogPipe&) = delete;

  int writer() const { return ends_[1]; }
  /// Reads the bytes that are in the pipe now, at most `most`.
  std::string read(std::size_t most = std::size_t{16} * 1024 * 1024) {
    std::string text;
    char part[4096];
    while (text.size() < most) {
      const ssize_t count = ::read(ends_[0], part, std::min(sizeof part, most - text.size()));
      if (count <= 0) break;
      text.append(part, static_cast<std::size_t>(count));
    }
    return text;
  }
  void closeReader() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }

 private:
  int ends_[2] = {-1, -1};
};

inline std::vector<std::string> splitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// Reads the members of an object in their order, with values as they are written. Accepts the objects, strings,
/// numbers and three literals of RFC 8259 without white space; for any other text it returns nothing.
class JsonReader {
 public:
  using Members = std::vector<std::pair<std::string, std::string>>;

  static std::optional<Members> members(std::string_view text) {
    JsonReader reader(text);
    Members found;
    if (!reader.object(&found) || !reader.rest_.empty()) return std::nullopt;
    return found;
  }

 private:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool object(Members* found) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      const std::string_view key = rest_;
      if (!string()) return false;
      const std::string name(key.substr(1, key.size() - rest_.size() - 2));
      if (!take(':')) return false;
      const std::string_view before = rest_;
      if (!value()) return false;
      if (found != nullptr) found->emplace_back(name, before.substr(0, before.size() - rest_.size()));
    } while (take(','));
    return take('}');
  }
  bool value() {
    if (rest_.empty()) return false;
    if (rest_.front() == '{') return object(nullptr);
    if (rest_.front() == '"') return string();
    for (const std::string_view literal : {"true", "false", "null"}) {
      if (rest_.starts_with(literal)) {
        rest_.remove_prefix(literal.size());
        return true;
      }
    }
    take('-');
    if (!digits()) return false;
    return !take('.') || digits();
  }
  bool digits() {
    std::size_t count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) rest_.remove_prefix(1);
    return count > 0;
  }
  bool string() {
    if (!take('"')) return false;
    while (!rest_.empty() && rest_.front() != '"') {
      if (!(rest_.front() == '\\' ? escape() : character())) return false;
    }
    return take('"');
  }
  bool escape() {
    take('\\');
    if (rest_.empty()) return false;
    const char kind = rest_.front();
    rest_.remove_prefix(1);
    if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
    if (rest_.size() < 4 || rest_.substr(0, 4).find_first_not_of("0123456789abcdef") != std::string_view::npos)
      return false;
    rest_.remove_prefix(4);
    return true;
  }
  bool character() {
    const base::Utf8Character character = base::decodeUtf8(rest_);
    if (character.length == 0 || character.codePoint < 0x20) return false;
    rest_.remove_prefix(character.length);
    return true;
  }

  std::string_view rest_;
};

}  // namespace sluice::observe
