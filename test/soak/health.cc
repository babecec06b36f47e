#include "test/soak/health.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "test/integration/support/gateway_process.h"

namespace sluice::soak {
namespace {

constexpr std::size_t kFewest = 8;
constexpr double kKibPerMib = 1024;

std::size_t descriptorsOf(pid_t process) {
  std::error_code ignored;
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(process) + "/fd", ignored);
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

std::size_t seriesOn(const std::string& page) {
  std::istringstream in(page);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) count += line.empty() || line[0] == '#' ? 0 : 1;
  return count;
}

double totalOf(const std::string& exchanges) {
  const std::string key = "\"total\":";
  const std::size_t at = exchanges.find(key);
  return at == std::string::npos ? 0 : std::stod(exchanges.substr(at + key.size()));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Sample sampleOf(test::GatewayProcess& gateway) {
  Sample sample;
  sample.residentMib = static_cast<double>(gateway.process().residentKib()) / kKibPerMib;
  if (sample.residentMib == 0) return sample;
  sample.descriptors = static_cast<double>(descriptorsOf(gateway.process().pid()));
  sample.series = static_cast<double>(seriesOn(gateway.metrics()));
  sample.exchanges = totalOf(gateway.adminGet("/exchanges"));
  return sample;
}

double sumOf(const std::string& page, const std::string& metric) {
  std::istringstream in(page);
  double sum = 0;
  for (std::string line; std::getline(in, line);) {
    const bool whole = line.starts_with(metric) && line.size() > metric.size();
    if (whole && std::string_view(" {,}").find(line[metric.size()]) != std::string_view::npos) {
      sum += std::stod(line.substr(line.rfind(' ') + 1));
    }
  }
  return sum;
}

bool Trend::isFlat(double share, double slack) const { return growth() <= std::max(share * third, slack); }

std::optional<Trend> trendOf(const std::vector<double>& values) {
  if (values.size() < kFewest) return std::nullopt;
  const auto at = [&](std::size_t quarter) {
    return values.begin() + static_cast<std::ptrdiff_t>(values.size() * quarter / 4);
  };
  return Trend{median({at(2), at(3)}), median({at(3), at(4)})};
}

}  // namespace sluice::soak
