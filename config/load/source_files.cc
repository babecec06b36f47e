#include "config/load/source_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

constexpr int kMostReadings = 5;

void report(const std::string& path, std::string message, Severity severity, Problems& problems) {
  Problem problem;
  problem.severity = severity;
  problem.position.file = std::make_shared<const std::string>(path);
  problem.message = std::move(message);
  problems.push_back(std::move(problem));
}

base::WallTime timeOf(const timespec& time) {
  return base::WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

/// Returns nullopt for anything that is not a regular file, such as a pipe.
std::optional<FileStamp> stampOf(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return FileStamp{status.st_dev, status.st_ino, status.st_size, timeOf(status.st_mtim), timeOf(status.st_ctim)};
}

/// Closes the file when it is destroyed.
class ConfigurationFile {
 public:
  explicit ConfigurationFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), error_(errno) {}
  ~ConfigurationFile() {
    if (fd_ >= 0) close(fd_);
  }
  ConfigurationFile(const ConfigurationFile&) = delete;
  ConfigurationFile& operator=(const ConfigurationFile&) = delete;

  std::optional<FileStamp> stamp() const {
    struct stat status = {};
    return fd_ >= 0 && fstat(fd_, &status) == 0 ? stampOf(status) : std::nullopt;
  }

  /// Reads at most one byte more than a text may have, so that a text that is too large is refused instead of cut. A
  /// pipe works too. If reading fails, returns nullopt and stores the reason in `error`.
  std::optional<std::string> read(int& error) const {
    error = error_;
    if (fd_ < 0) return std::nullopt;
    std::string text;
    const std::size_t most = YamlLimits{}.textBytes + 1;
    std::array<char, 64 * 1024> buffer;
    ssize_t count = 1;
    while (count != 0 && count != -1 && text.size() < most) {
      do {
        count = ::read(fd_, buffer.data(), std::min(buffer.size(), most - text.size()));
      } while (count < 0 && errno == EINTR);
      if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    error = errno;
    if (count < 0) return std::nullopt;
    return text;
  }

 private:
  const int fd_;
  const int error_;  // the reason why it could not be opened
};

using OpenFolder = std::unique_ptr<DIR, int (*)(DIR*)>;

/// Returns true if the entry is a regular file. Most directory entries have a type. For links, and on file systems
/// without this type, the file itself is examined.
bool isFile(const dirent& entry, int folder) {
  if (entry.d_type == DT_REG) return true;
  struct stat status = {};
  const bool told = entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN;
  return !told && fstatat(folder, entry.d_name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

/// Returns the names of the folder's configuration files, sorted. There may be thousands of them, and std::filesystem
/// would take as long as reading the files.
std::vector<std::string> filesOf(DIR* folder, std::error_code& error) {
  std::vector<std::string> files;
  errno = 0;
  for (const dirent* entry = nullptr; (entry = readdir(folder)) != nullptr;) {
    if (isConfigurationFile(entry->d_name) && isFile(*entry, dirfd(folder))) files.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) error.assign(errno, std::generic_category());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool isConfigurationFile(std::string_view name) {
  if (name.starts_with('.')) return false;
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

namespace {

/// Returns the folders to which the paths lead now, with all links resolved. A mounted ConfigMap has a link `..data`,
/// and an update of its files changes that link. Tools that copy repositories replace the folder itself.
std::vector<std::string> foldersBehind(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path given(path);
    const std::filesystem::path folder = std::filesystem::is_directory(given, error) ? given : given.parent_path();
    const std::filesystem::path data = folder / "..data";
    const bool mounted = std::filesystem::is_symlink(std::filesystem::symlink_status(data, error));
    folders.push_back(std::filesystem::canonical(mounted ? data : folder.empty() ? "." : folder, error).string());
  }
  return folders;
}

// A file may change again in the same tick of the file system's clock in which it was read, and its stamp would stay
// the same. So a stamp is trusted only if it is older than a tick. Most ticks take milliseconds, but those of a few
// file systems take two seconds.
constexpr auto kSettled = std::chrono::seconds(3);

/// Reads all files once.
class FileReading {
 public:
  FileReading(base::WallTime now, TextCache& cache, Problems& problems)
      : now_(now), cache_(cache), problems_(problems) {}

  void add(const std::string& path) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(path, error);
    if (!error && !folder) return addFile(AT_FDCWD, path, path);
    if (!error) addFolder(path, error);
    if (error) report(path, "cannot be read: " + error.message(), Severity::kError, problems_);
  }

  KeptTexts take() { return std::move(texts_); }

 private:
  void addFolder(const std::string& path, std::error_code& error) {
    const OpenFolder folder(opendir(path.c_str()), closedir);
    if (folder == nullptr) return error.assign(errno, std::generic_category());
    const std::vector<std::string> names = filesOf(folder.get(), error);
    if (error) return;
    if (names.empty()) report(path, "holds no *.yaml, *.yml or *.json", Severity::kWarning, problems_);
    const std::string prefix = path.ends_with('/') ? path : path + "/";
    texts_.reserve(texts_.size() + names.size());
    for (const std::string& name : names) addFile(dirfd(folder.get()), name, prefix + name);
  }

  /// `name` is relative to `folder`, so that the path of the folder is not resolved again for each of thousands of
  /// files.
  void addFile(int folder, const std::string& name, const std::string& path) {
    ReadText before;
    int error = 0;
    const auto unchanged = [&](const ReadText& kept) {
      before = kept;
      struct stat status = {};
      return kept.stamp && fstatat(folder, name.c_str(), &status, 0) == 0 && stampOf(status) == kept.stamp;
    };
    const ReadText& file = cache_.get(path, unchanged, [&] { return readFile(path, std::move(before), error); });
    if (file.text != nullptr) return texts_.push_back(file.text);
    report(path, "cannot be read: " + std::generic_category().message(error), Severity::kError, problems_);
  }

  /// Returns `before` with the new stamp if the text is the same.
  ReadText readFile(const std::string& path, ReadText before, int& error) const {
    const ConfigurationFile open(path);
    std::optional<FileStamp> stamp =
        open.stamp();  // taken before the text is read, so that it is not newer than the text
    std::optional<std::string> text = open.read(error);
    if (!text) return {};
    if (stamp && stamp->changed + kSettled > now_) stamp.reset();
    if (before.text != nullptr && before.text->text.reveal() == *text) {
      before.stamp = stamp;
      return before;
    }
    return {std::make_shared<const KeptText>(path, base::Secret(*std::move(text))), nullptr, stamp};
  }

  const base::WallTime now_;
  TextCache& cache_;
  Problems& problems_;
  KeptTexts texts_;
};

}  // namespace

std::vector<std::string> configurationFolders(const std::string& folder, Problems& problems) {
  std::vector<std::string> found;
  std::vector<std::string> left = {folder};
  while (!left.empty()) {
    const std::string path = std::move(left.back());
    left.pop_back();
    std::error_code error;
    bool hasFiles = false;
    for (std::filesystem::directory_iterator each(path, error), end; !error && each != end; each.increment(error)) {
      const std::string name = each->path().filename().string();
      std::error_code ignored;
      if (each->is_regular_file(ignored)) hasFiles = hasFiles || isConfigurationFile(name);
      const bool below = each->is_directory(ignored) && !each->is_symlink(ignored);
      if (below && !name.starts_with('.')) left.push_back(each->path().string());
    }
    if (error) report(path, "cannot be read: " + error.message(), Severity::kError, problems);
    if (hasFiles) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

KeptTexts readSourceFiles(const std::vector<std::string>& paths, base::WallTime now, TextCache& cache,
                          Problems& problems) {
  std::vector<std::string> before = foldersBehind(paths);
  for (int reading = 0; reading < kMostReadings; ++reading) {
    Problems found;
    FileReading read(now, cache, found);
    for (const std::string& path : paths) read.add(path);
    std::vector<std::string> after = foldersBehind(paths);
    if (after == before) {
      problems.insert(problems.end(), found.begin(), found.end());
      return read.take();
    }
    before = std::move(after);
  }
  report(paths.front(), "was replaced each time that it was read, " + std::to_string(kMostReadings) + " times",
         Severity::kError, problems);
  return {};
}

}  // namespace sluice::config
