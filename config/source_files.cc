#include "config/source_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "config/yaml_reader.h"

namespace sluice::config {
namespace {

void report(const std::string& path, std::string message, Severity severity, Problems& problems) {
  Problem problem;
  problem.severity = severity;
  problem.position.file = std::make_shared<const std::string>(path);
  problem.message = std::move(message);
  problems.push_back(std::move(problem));
}

/// Reads up to one byte more than a text may have, so that what is too large is refused and never cut. A pipe will do
/// too.
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

/// Sorted by name.
std::vector<std::string> filesOf(const std::string& folder, std::error_code& error) {
  std::vector<std::string> files;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const std::filesystem::path& path = entry->path();
    const bool counts = isConfigurationFile(path.filename().string());
    if (counts && entry->is_regular_file(ignored)) files.push_back(path.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool isConfigurationFile(std::string_view name) {
  if (name.starts_with('.')) return false;
  const std::string extension = std::filesystem::path(name).extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::vector<SourceText> readSourceFiles(const std::vector<std::string>& paths, Problems& problems) {
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
      report(path, "can not be read: " + error.message(), Severity::kError, problems);
      continue;
    }
    for (const std::string& file : files) {
      int number = 0;
      if (std::optional<std::string> text = readFile(file, number)) {
        texts.push_back(SourceText{file, std::move(*text)});
      } else {
        report(file, "can not be read: " + std::generic_category().message(number), Severity::kError, problems);
      }
    }
  }
  return texts;
}

}  // namespace sluice::config
