// The process's log for its operators: one JSON object a line, with OpenTelemetry's field names.
//
//   {"time":"2026-01-31T23:59:59.123Z","severity":"WARN","message":"...","attributes":{"name":"value","count":3}}
//
// Made by main and handed down; there is no other logger. Any thread. Every text is escaped and bounded. A record that
// cannot be written (full disk, closed or stuck pipe) is dropped and counted, and the process goes on.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/observe/line_file.h"

namespace sluice::observe {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };

/// Parses "trace", "debug", "info", "warn", "error" or "off"; any other text is an error of config's origin that lists
/// these.
base::Result<LogLevel> parseLogLevel(std::string_view text);
/// Returns the text of which parseLogLevel() makes that level.
std::string_view logLevelName(LogLevel level);

/// One attribute. Refers to its texts: use it as a temporary inside the call.
struct LogField {
  template <std::integral Integer>
  LogField(std::string_view fieldName, Integer number) : name(fieldName) {
    if constexpr (std::same_as<Integer, bool>) {
      value = number;
    } else if constexpr (std::signed_integral<Integer>) {
      value = std::int64_t{number};
    } else {
      value = std::uint64_t{number};
    }
  }
  /// Written in milliseconds.
  LogField(std::string_view fieldName, base::Duration time) : name(fieldName), value(time) {}
  LogField(std::string_view fieldName, std::string_view text) : name(fieldName), value(text) {}
  LogField(std::string_view fieldName, const char* text) : name(fieldName), value(std::string_view(text)) {}

  std::string_view name;
  std::variant<std::string_view, std::int64_t, std::uint64_t, bool, base::Duration> value;
};

class Log {
 public:
  using Fields = std::initializer_list<LogField>;
  /// The number of bytes of a message or of an attribute's text that are written at most, escapes counted.
  static constexpr std::size_t kMaxTextBytes = 1024;
  /// The number of attributes of a record at most; further ones are left out.
  static constexpr std::size_t kMaxFields = 32;

  /// Records below `level` cost one comparison. `clock` outlives the log.
  Log(LogLevel level, const base::Clock& clock, std::unique_ptr<LineFile> out);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Ask this first where the fields of a record cost time to make.
  bool enabled(LogLevel level) const {
    return level >= level_.load(std::memory_order_relaxed) && level != LogLevel::kOff;
  }
  LogLevel level() const { return level_.load(std::memory_order_relaxed); }
  /// Any thread; other threads may write some more records by the old level.
  void setLevel(LogLevel level) { level_.store(level, std::memory_order_relaxed); }

  void write(LogLevel level, std::string_view message, Fields fields) const {
    if (enabled(level)) render(level, message, fields);
  }
  void trace(std::string_view message, Fields fields = {}) const { write(LogLevel::kTrace, message, fields); }
  void debug(std::string_view message, Fields fields = {}) const { write(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, Fields fields = {}) const { write(LogLevel::kInfo, message, fields); }
  void warn(std::string_view message, Fields fields = {}) const { write(LogLevel::kWarn, message, fields); }
  void error(std::string_view message, Fields fields = {}) const { write(LogLevel::kError, message, fields); }

  /// Returns how many records could not be written.
  std::uint64_t dropped() const;

 private:
  class LogSink;
  class SpdlogOutput;
  void render(LogLevel level, std::string_view message, Fields fields) const;

  std::atomic<LogLevel> level_;
  const base::Clock& clock_;
  const std::unique_ptr<SpdlogOutput> output_;
};

}  // namespace sluice::observe
