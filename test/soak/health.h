// Samples of the gateway while the soak runs: memory, descriptors, metric series and live exchanges; and tests whether
// they grow.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {
class GatewayProcess;
}

namespace sluice::soak {

struct Sample {
  double heapMib = 0;      // bytes in use
  double residentMib = 0;  // 0 if the process is gone
  double descriptors = 0;
  double series = 0;
  double exchanges = 0;
};

/// Takes a sample without the heap, which the testbed measures.
Sample sampleOf(test::GatewayProcess& gateway);

/// Returns the sum of all series of a metric, "name" or "name{label=\"value\"", on a metrics page.
double sumOf(const std::string& page, const std::string& metric);

/// The medians of the third and of the last quarter of a course; the earlier samples were of warming up.
struct Trend {
  double third = 0;
  double last = 0;

  double growth() const { return last - third; }
  /// Returns true if the median has not grown by more than `share` of itself, or by more than `slack`.
  bool isFlat(double share, double slack) const;
};

/// Returns nothing for fewer than eight values.
std::optional<Trend> trendOf(const std::vector<double>& values);

}  // namespace sluice::soak
