#include "proxy/server/page/traffic_window.h"

#include <numeric>

namespace sluice::server {
namespace {

std::array<std::uint64_t, observe::Histogram::kBuckets> recentBuckets(const Windowed<FlowSum>& sums) {
  std::array<std::uint64_t, observe::Histogram::kBuckets> recent{};
  for (std::size_t i = 0; i < recent.size(); ++i) recent[i] = sums.now.buckets[i] - sums.base.buckets[i];
  return recent;
}

double millisecondsOf(base::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

}  // namespace

std::optional<double> quantileMs(const std::array<std::uint64_t, observe::Histogram::kBuckets>& buckets, double part) {
  constexpr auto& kBounds = observe::Histogram::kBounds;
  const std::uint64_t all = std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  const double rank = part * static_cast<double>(all);
  double below = 0;
  double lower = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    const double upper = millisecondsOf(kBounds[i].upper);
    const auto own = static_cast<double>(buckets[i]);
    if (own > 0 && below + own >= rank) return lower + (upper - lower) * (rank - below) / own;
    below += own;
    lower = upper;
  }
  return lower;
}

void TrafficWindow::move(base::MonotonicTime now) {
  settles_ = base_ == base::MonotonicTime{};
  moves_ = !settles_ && now - middle_ >= kStep;
  if (settles_) base_ = middle_ = now;
  if (moves_) {
    base_ = middle_;
    middle_ = now_;  // the time of the sums that are the middle from now on
  }
  now_ = now;
  if (!moves_) return;
  all_.move();
  for (auto& [name, sums] : routes_) sums.move();
  for (auto& [name, sums] : backends_) sums.move();
  for (auto& [name, sum] : limits_) sum.move();
}

void TrafficWindow::read(const observe::MetricsRegistry& registry, base::MonotonicTime now) {
  using observe::FamilyReader;
  using observe::Metric;
  // Series end with their objects, and others begin.
  if (ofRoutes_.size() + ofBackends_.size() > 2 * read_ + kMostGone) clear();
  move(now);
  read_ = 0;
  FamilyReader::read(registry, Metric::kServerRequestDuration,
                     [this](const observe::SeriesView& series) { add(series, "route", ofRoutes_, routes_, &all_); });
  FamilyReader::read(registry, Metric::kClientRequestDuration, [this](const observe::SeriesView& series) {
    add(series, "backend", ofBackends_, backends_, nullptr);
  });
  connections_ = 0;
  FamilyReader::read(registry, Metric::kDownstreamConnections,
                     [this](const observe::SeriesView& series) { connections_ += series.sum().level; });
  readLimits(registry);
  if (!settles_) return;
  all_.settle();
  for (auto& [name, sums] : routes_) sums.settle();
  for (auto& [name, sums] : backends_) sums.settle();
  for (auto& [name, sum] : limits_) sum.settle();
}

// The names in the labels of a series are read once. A histogram has changed if its sum of times has.
void TrafficWindow::add(const observe::SeriesView& series, std::string_view label, SeriesByNumber& known, Flows& flows,
                        Windowed<FlowSum>* all) {
  ++read_;
  const auto [found, isNew] = known.try_emplace(series.number());
  KnownSeries& each = found->second;
  if (isNew) {
    each.flow = &flows[series.label(label)];
    each.isError = !series.label("error_type").empty();
    each.isServerError = series.label("http_response_status_code").starts_with('5');
  } else if (series.nanoseconds() == each.last.nanoseconds) {
    return;
  }
  const observe::SeriesSum sum = series.sum();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < sum.buckets.size(); ++i) {
    const std::uint64_t more = sum.buckets[i] - each.last.buckets[i];
    count += more;
    each.flow->now.buckets[i] += more;
    if (all != nullptr) all->now.buckets[i] += more;
  }
  for (Windowed<FlowSum>* to : {each.flow, all}) {
    if (to == nullptr) continue;
    if (each.isError) to->now.errors += count;
    if (each.isServerError) to->now.serverErrors += count;
  }
  each.last = sum;
}

void TrafficWindow::readLimits(const observe::MetricsRegistry& registry) {
  for (auto& [name, sum] : limits_) sum.now = 0;
  observe::FamilyReader::read(registry, observe::Metric::kLimitHits, [this](const observe::SeriesView& series) {
    limits_[series.label("limit")].now += series.sum().count;
  });
}

std::optional<double> TrafficWindow::rateOf(const Windowed<std::uint64_t>& sum) const {
  if (now_ == base_) return std::nullopt;
  return static_cast<double>(sum.now - sum.base) / seconds();
}

RequestFlow TrafficWindow::flowOf(const Windowed<FlowSum>& sums) const {
  if (now_ == base_) return {};
  const auto recent = recentBuckets(sums);
  const auto count = static_cast<double>(std::accumulate(recent.begin(), recent.end(), std::uint64_t{0}));
  return {count / seconds(), static_cast<double>(sums.now.errors - sums.base.errors) / seconds(),
          static_cast<double>(sums.now.serverErrors - sums.base.serverErrors) / seconds(), quantileMs(recent, 0.5),
          quantileMs(recent, 0.99)};
}

RequestFlow TrafficWindow::flowIn(const Flows& flows, const std::string& name) const {
  static const Windowed<FlowSum> kNothing;
  const auto found = flows.find(name);
  return flowOf(found != flows.end() ? found->second : kNothing);
}

std::optional<double> TrafficWindow::hits(const std::string& limit) const {
  const auto found = limits_.find(limit);
  return found != limits_.end() ? rateOf(found->second) : std::nullopt;
}

std::uint64_t TrafficWindow::hitsSinceStart(const std::string& limit) const {
  const auto found = limits_.find(limit);
  return found != limits_.end() ? found->second.now : 0;
}

}  // namespace sluice::server
