#include "proxy/observe/log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "proxy/base/json_text.h"
#include "proxy/base/timestamp.h"

namespace sluice::observe {
namespace {

struct LevelFacts {
  std::string_view name;
  std::string_view severity;  // OpenTelemetry's SeverityText
  spdlog::level::level_enum level;
};

constexpr std::array<LevelFacts, 6> kLevels{{
    {"trace", "TRACE", spdlog::level::trace},
    {"debug", "DEBUG", spdlog::level::debug},
    {"info", "INFO", spdlog::level::info},
    {"warn", "WARN", spdlog::level::warn},
    {"error", "ERROR", spdlog::level::err},
    {"off", "", spdlog::level::off},
}};

const LevelFacts& factsOf(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

void appendValue(std::string& line, const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    base::appendJsonString(line, *text, Log::kMaxTextBytes);
  } else if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    base::appendJsonNumber(line, *number);
  } else if (const auto* count = std::get_if<std::uint64_t>(&field.value)) {
    base::appendJsonNumber(line, *count);
  } else if (const auto* time = std::get_if<base::Duration>(&field.value)) {
    std::array<char, 24> digits;
    line.append(digits.data(), base::writeJsonMilliseconds(digits.data(), *time));
  } else {
    line.append(std::get<bool>(field.value) ? "true" : "false");
  }
}

}  // namespace

base::Result<LogLevel> parseLogLevel(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i].name == text) return static_cast<LogLevel>(i);
  }
  return base::Error::config("log level must be one of trace, debug, info, warn, error, off");
}

/// Takes lines as they are: they were rendered with their fields, which spdlog does not support. The file has the
/// lock.
class Log::LogSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LogSink(std::unique_ptr<LineFile> out) : out_(std::move(out)) {}
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  void drop() { dropped_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void sink_it_(const spdlog::details::log_msg& record) override {
    const std::string_view line(record.payload.data(), record.payload.size());
    if (out_->write(line).taken < line.size()) drop();
  }
  void flush_() override {}

  std::unique_ptr<LineFile> out_;
  std::atomic<std::uint64_t> dropped_ = 0;
};

class Log::SpdlogOutput {
 public:
  explicit SpdlogOutput(std::unique_ptr<LineFile> out)
      : sink(std::make_shared<LogSink>(std::move(out))), logger("sluice", sink) {
    logger.set_level(spdlog::level::trace);
    logger.set_error_handler([this](const std::string&) { sink->drop(); });
  }

  const std::shared_ptr<LogSink> sink;
  spdlog::logger logger;
};

std::string_view logLevelName(LogLevel level) { return factsOf(level).name; }

Log::Log(LogLevel level, const base::Clock& clock, std::unique_ptr<LineFile> out)
    : level_(level), clock_(clock), output_(std::make_unique<SpdlogOutput>(std::move(out))) {}

Log::~Log() = default;

std::uint64_t Log::dropped() const { return output_->sink->dropped(); }

void Log::render(LogLevel level, std::string_view message, Fields fields) const {
  std::string line;
  base::Timestamp timestamp;
  line.append(R"({"time":")").append(timestamp.text(clock_.wallNow()));
  line.append(R"(","severity":")").append(factsOf(level).severity).append(R"(","message":)");
  base::appendJsonString(line, message, kMaxTextBytes);
  line.append(R"(,"attributes":{)");
  for (const LogField* field = fields.begin(); field != fields.begin() + std::min(fields.size(), kMaxFields); ++field) {
    if (field != fields.begin()) line.push_back(',');
    base::appendJsonString(line, field->name, kMaxTextBytes);
    line.push_back(':');
    appendValue(line, *field);
  }
  line.append("}}\n");
  output_->logger.log(factsOf(level).level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace sluice::observe
