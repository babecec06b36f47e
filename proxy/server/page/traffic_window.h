// A TrafficWindow derives rates and times of requests from the metrics: what was counted in the last 10 to 20 seconds.
//
// It reads the registry when somebody looks at the live page, about once a second, and keeps nothing while nobody does.
// Main thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "proxy/base/clock.h"
#include "proxy/observe/metrics.h"
#include "proxy/observe/metrics_reader.h"

namespace sluice::server {

/// A sum that grows, as it is and as it was at two earlier times.
template <typename Sum>
struct Windowed {
  Sum now{};
  Sum middle{};
  Sum base{};

  void move() {
    base = middle;
    middle = now;
  }
  /// Forgets everything before now.
  void settle() { base = middle = now; }
};

/// The counts of some requests.
struct FlowSum {
  std::array<std::uint64_t, observe::Histogram::kBuckets> buckets{};
  std::uint64_t errors = 0;        // that have ended with an error
  std::uint64_t serverErrors = 0;  // whose status was 500 or above
};

/// The rates of some requests; without a value while they are not known.
struct RequestFlow {
  std::optional<double> rate = std::nullopt;
  std::optional<double> errors = std::nullopt;
  std::optional<double> serverErrors = std::nullopt;
  std::optional<double> p50Ms = std::nullopt;
  std::optional<double> p99Ms = std::nullopt;
};

/// Returns the time in milliseconds below which that part of the counted durations lie, as Prometheus estimates it:
/// nothing if there are none, and the last bound if it lies beyond that.
std::optional<double> quantileMs(const std::array<std::uint64_t, observe::Histogram::kBuckets>& buckets, double part);

class TrafficWindow {
 public:
  static constexpr base::Duration kStep = std::chrono::seconds(10);
  /// The number of series that are gone and may be remembered, besides as many as there are.
  static constexpr std::size_t kMostGone = 1000;

  /// Reads the registry. If most of the series that it has read before are gone, it begins anew.
  void read(const observe::MetricsRegistry& registry, base::MonotonicTime now);
  /// Forgets everything.
  void clear() { *this = TrafficWindow(); }

  RequestFlow all() const { return flowOf(all_); }
  /// Return those of one route or Backend, by "namespace/name". Those of a Backend are attempts.
  RequestFlow route(const std::string& name) const { return flowIn(routes_, name); }
  RequestFlow backend(const std::string& name) const { return flowIn(backends_, name); }
  /// Hits of the limit by its key.
  std::optional<double> hits(const std::string& limit) const;
  std::uint64_t hitsSinceStart(const std::string& limit) const;
  const std::map<std::string, Windowed<std::uint64_t>>& limits() const { return limits_; }
  std::int64_t connections() const { return connections_; }
  /// Returns the rate of a sum that was moved with the window; nothing while the window has no length.
  std::optional<double> rateOf(const Windowed<std::uint64_t>& sum) const;
  /// Returns true if sums must be moved before they are read; settles() is true if they must be settled after that.
  bool moves() const { return moves_; }
  bool settles() const { return settles_; }

 private:
  using Flows = std::unordered_map<std::string, Windowed<FlowSum>>;
  /// A series whose counts are added to a flow.
  struct KnownSeries {
    Windowed<FlowSum>* flow = nullptr;  // elements of Flows keep their place
    bool isError = false;
    bool isServerError = false;
    observe::SeriesSum last;
  };
  using SeriesByNumber = std::unordered_map<std::uint64_t, KnownSeries>;

  void add(const observe::SeriesView& series, std::string_view label, SeriesByNumber& known, Flows& flows,
           Windowed<FlowSum>* all);
  void readLimits(const observe::MetricsRegistry& registry);
  void move(base::MonotonicTime now);
  RequestFlow flowOf(const Windowed<FlowSum>& sums) const;
  RequestFlow flowIn(const Flows& flows, const std::string& name) const;
  double seconds() const { return std::chrono::duration<double>(now_ - base_).count(); }

  base::MonotonicTime now_{};
  base::MonotonicTime middle_{};
  base::MonotonicTime base_{};
  bool moves_ = false;
  bool settles_ = false;
  Windowed<FlowSum> all_;
  Flows routes_;
  Flows backends_;
  SeriesByNumber ofRoutes_;
  SeriesByNumber ofBackends_;
  std::size_t read_ = 0;  // series that the last reading has found
  std::map<std::string, Windowed<std::uint64_t>> limits_;
  std::int64_t connections_ = 0;
};

}  // namespace sluice::server
