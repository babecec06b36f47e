// Writes log lines about traffic, of one level, and bounds them to as many in a second as a person can read.
//
// Each worker has one, on its thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/observe/log.h"

namespace sluice::observe {

class BoundedLog {
 public:
  static constexpr std::uint32_t kMostPerSecond = 100;

  /// Both outlive it. Nothing is written if `log` is null.
  BoundedLog(const Log* log, const base::Clock& clock, LogLevel level = LogLevel::kDebug)
      : log_(log), clock_(clock), level_(level) {}

  /// Returns true if the next line would be written. Ask this first, because fields cost time to make.
  bool wants() { return log_ != nullptr && log_->enabled(level_) && hasRoom(); }
  void write(std::string_view message, Log::Fields fields) const { log_->write(level_, message, fields); }

 private:
  bool hasRoom();

  const Log* const log_;
  const base::Clock& clock_;
  const LogLevel level_;
  base::MonotonicTime second_{};
  std::uint32_t written_ = 0;  // lines written in this second
  std::uint64_t left_ = 0;     // lines left out in this second
};

}  // namespace sluice::observe
