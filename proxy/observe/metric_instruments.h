// Counter, gauge and histogram with a single writer.
//
// Written by the thread that owns their shard, read by the admin thread at any time: relaxed loads and stores, no
// read-modify-write. Made by MetricShard only; their addresses stay for the life of the registry, so a caller keeps
// the pointer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"

namespace sluice::observe {

class Counter {
 public:
  void add(std::uint64_t count = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Gauge {
 public:
  /// Adds a change, which may be negative.
  void add(std::int64_t change) { set(value() + change); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

class Histogram {
 public:
  struct Bound {
    base::Duration upper;   // inclusive
    std::string_view text;  // the bound in seconds
  };
  /// The boundaries that OpenTelemetry advises for HTTP and DNS duration metrics.
  static constexpr std::array<Bound, 14> kBounds{{
      {std::chrono::milliseconds(5), "0.005"},
      {std::chrono::milliseconds(10), "0.01"},
      {std::chrono::milliseconds(25), "0.025"},
      {std::chrono::milliseconds(50), "0.05"},
      {std::chrono::milliseconds(75), "0.075"},
      {std::chrono::milliseconds(100), "0.1"},
      {std::chrono::milliseconds(250), "0.25"},
      {std::chrono::milliseconds(500), "0.5"},
      {std::chrono::milliseconds(750), "0.75"},
      {std::chrono::milliseconds(1000), "1"},
      {std::chrono::milliseconds(2500), "2.5"},
      {std::chrono::milliseconds(5000), "5"},
      {std::chrono::milliseconds(7500), "7.5"},
      {std::chrono::milliseconds(10000), "10"},
  }};
  static constexpr std::size_t kBuckets = kBounds.size() + 1;  // the last bucket has no upper bound

  /// Counts a duration; a negative one is counted as zero.
  void observe(base::Duration duration) {
    duration = std::max(duration, base::Duration::zero());
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && duration > kBounds[bucket].upper) ++bucket;
    buckets_[bucket].add();
    nanoseconds_.add(static_cast<std::uint64_t>(duration.count()));
  }
  /// Returns the count of this bucket alone, not cumulative.
  std::uint64_t bucket(std::size_t index) const { return buckets_[index].value(); }
  std::uint64_t nanoseconds() const { return nanoseconds_.value(); }

 private:
  std::array<Counter, kBuckets> buckets_;
  Counter nanoseconds_;
};

}  // namespace sluice::observe
