#include "config/yaml/source_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

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

/// Reads up to one byte more than a text may have, so that a text that is too large is refused and never cut. A pipe
/// works too.
std::optional<std::string> readFile(const std::string& path, int& error) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  const std::size_t most = YamlLimits{}.textBytes + 1;
  std::array<char, 64 * 1024> buffer;
  ssize_t count = fd < 0 ? -1 : 1;
  while (count != 0 && count != -1 && text.size() < most) {
    do {
      count = read(fd, buffer.data(), std::min(buffer.size(), most - text.size()));
    } while (count < 0 && errno == EINTR);
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  error = errno;
  if (fd >= 0) close(fd);
  if (count < 0) return std::nullopt;
  return text;
}

/// Returns true if the entry is a regular file. Most entries give their type; for links, and where the file system does
/// not give it, the file itself is asked.
bool isFile(const dirent& entry, const std::string& path) {
  if (entry.d_type == DT_REG) return true;
  struct stat status = {};
  const bool told = entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN;
  return !told && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Returns the folder's configuration files, sorted by name. There may be thousands, and std::filesystem would cost as
/// much as reading them.
std::vector<std::string> filesOf(const std::string& folder, std::error_code& error) {
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  errno = 0;
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (const dirent* entry = nullptr; open != nullptr && (entry = readdir(open.get())) != nullptr;) {
    if (!isConfigurationFile(entry->d_name)) continue;
    std::string path = prefix + entry->d_name;
    if (isFile(*entry, path)) files.push_back(std::move(path));
    errno = 0;
  }
  if (open == nullptr || errno != 0) error.assign(errno, std::generic_category());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool isConfigurationFile(std::string_view name) {
  if (name.starts_with('.')) return false;
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

namespace {

/// Returns the folders that the paths lead to now, behind all links. A mounted ConfigMap has a link `..data`, and a
/// change of all its files is a change of that link; tools that copy repositories swap the folder itself.
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

std::vector<SourceText> readOnce(const std::vector<std::string>& paths, Problems& problems) {
  std::vector<SourceText> texts;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(path, error);
    std::vector<std::string> files{path};
    if (!error && folder) {
      files = filesOf(path, error);
      if (!error && files.empty()) report(path, "holds no *.yaml, *.yml or *.json", Severity::kWarning, problems);
    }
    if (error) {
      report(path, "cannot be read: " + error.message(), Severity::kError, problems);
      continue;
    }
    for (const std::string& file : files) {
      int number = 0;
      if (std::optional<std::string> text = readFile(file, number)) {
        texts.push_back(SourceText{file, std::move(*text)});
      } else {
        report(file, "cannot be read: " + std::generic_category().message(number), Severity::kError, problems);
      }
    }
  }
  return texts;
}

}  // namespace

std::vector<SourceText> readSourceFiles(const std::vector<std::string>& paths, Problems& problems) {
  std::vector<std::string> before = foldersBehind(paths);
  for (int reading = 0; reading < kMostReadings; ++reading) {
    Problems found;
    std::vector<SourceText> texts = readOnce(paths, found);
    std::vector<std::string> after = foldersBehind(paths);
    if (after == before) {
      problems.insert(problems.end(), found.begin(), found.end());
      return texts;
    }
    before = std::move(after);
  }
  report(paths.front(), "was replaced each time that it was read, " + std::to_string(kMostReadings) + " times",
         Severity::kError, problems);
  return {};
}

}  // namespace sluice::config
