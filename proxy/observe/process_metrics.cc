#include "proxy/observe/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

namespace sluice::observe {
namespace {

std::string contentOf(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the fields of /proc/self/stat from the third one on (proc(5)); the second one may contain spaces.
std::vector<std::string> processFields() {
  const std::string stat = contentOf("/proc/self/stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream rest(stat.substr(end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// Returns when the system was started, in seconds since the epoch.
std::optional<double> bootTime() {
  const std::string stat = contentOf("/proc/stat");
  const std::string key = "\nbtime ";
  const std::size_t at = stat.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::stod(stat.substr(at + key.size()));
}

std::optional<std::uint64_t> openDescriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (folder == nullptr) return std::nullopt;
  std::uint64_t entries = 0;
  while (::readdir(folder.get()) != nullptr) ++entries;
  return entries - 3;  // ".", ".." and the folder itself
}

/// Positions among the fields, where the third one has position 0.
constexpr std::size_t kUserTicks = 11;
constexpr std::size_t kSystemTicks = 12;
constexpr std::size_t kStartTicks = 19;
constexpr std::size_t kVirtualBytes = 20;
constexpr std::size_t kResidentPages = 21;

}  // namespace

void appendProcessMetrics(std::string& out, std::string_view version, std::string_view commit) {
  const auto& [build, cpu, open, most, virtualBytes, residentBytes, start] = kProcessFamilies;
  Exposition page(out);
  page.begin(build);
  page.add({version, commit}, std::uint64_t{1});
  if (const auto count = openDescriptors()) {
    page.begin(open);
    page.add({}, *count);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    page.begin(most);
    page.add({}, static_cast<double>(limit.rlim_cur));
  }
  const std::vector<std::string> fields = processFields();
  if (fields.size() <= kResidentPages) return;
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto number = [&fields](std::size_t position) { return std::stod(fields[position]); };
  page.begin(cpu);
  page.add({}, (number(kUserTicks) + number(kSystemTicks)) / ticks);
  page.begin(virtualBytes);
  page.add({}, number(kVirtualBytes));
  page.begin(residentBytes);
  page.add({}, number(kResidentPages) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  if (const auto booted = bootTime()) {
    page.begin(start);
    page.add({}, *booted + number(kStartTicks) / ticks);
  }
}

void RecentProcessMetrics::append(std::string& out, base::MonotonicTime now) {
  if (text_.empty() || now - readAt_ >= kKept) {
    text_.clear();
    appendProcessMetrics(text_, version_, commit_);
    readAt_ = now;
  }
  out += text_;
}

}  // namespace sluice::observe
