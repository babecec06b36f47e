// What the gateway holds while the soak runs, sampled: memory, descriptors, metric series, live exchanges; and whether
// it grows.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {
class Gateway;
}

namespace sluice::soak {

struct Sample {
  double heapMib = 0;      // in use
  double residentMib = 0;  // 0: the process is gone
  double descriptors = 0;
  double series = 0;
  double exchanges = 0;
};

/// Without the heap, which the stage knows.
Sample sampleOf(test::Gateway& gateway);

/// Sum of all series of a metric, "name" or "name{label=\"value\"", on a metrics page.
double sumOf(const std::string& page, const std::string& metric);

/// The medians of the third and the last quarter of a course: what came before was warming up.
struct Trend {
  double third = 0;
  double last = 0;

  double growth() const { return last - third; }
  /// It has not grown by more than `share` of what it was, or at least not by more than `slack`.
  bool isFlat(double share, double slack) const;
};

/// Nothing of fewer than eight values.
std::optional<Trend> trendOf(const std::vector<double>& values);

}  // namespace sluice::soak
