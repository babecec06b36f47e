// Reads the parts that both forms of BackendTrafficPolicy share.
#include <algorithm>
#include <cstdint>
#include <string>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxTrafficCodes = 500;
constexpr std::uint16_t kLeastRetriedCode = 400;
constexpr std::int64_t kMostRetries = 10;
constexpr std::uint32_t kBackOffGrowth = 10;

}  // namespace

void addCodes(std::uint16_t first, std::uint16_t last, std::vector<std::uint16_t>& codes) {
  for (std::uint32_t code = first; code <= last; ++code) {
    const auto narrow = static_cast<std::uint16_t>(code);
    if (std::find(codes.begin(), codes.end(), narrow) == codes.end()) codes.push_back(narrow);
  }
}

void readTrafficCodes(FieldReader& reader, std::string_view key, std::vector<std::uint16_t>& codes,
                      std::vector<UnsupportedField>& unsupported) {
  for (const Item& item : reader.list(key, kMaxTrafficCodes)) {
    const auto code = readInteger(*item.value, item.path, 100, 599, reader.context());
    if (!code) continue;
    const auto narrow = static_cast<std::uint16_t>(*code);
    if (narrow >= kLeastRetriedCode) {
      addCodes(narrow, narrow, codes);
    } else {
      unsupported.push_back({item.path, item.value->position, "statuses below 400 are not tried again", true});
    }
  }
}

void readRetryCount(FieldReader& reader, std::string_view key, HttpRouteRetry& retry,
                    std::vector<UnsupportedField>& unsupported) {
  const auto count = reader.integer(key, 0, INT32_MAX);
  if (!count) return;
  retry.attempts = static_cast<std::uint32_t>(std::min(*count, kMostRetries));
  if (*count <= kMostRetries) return;
  unsupported.push_back(
      {reader.pathOf(key), reader.positionOf(key), "at most " + std::to_string(kMostRetries) + " are made", false});
}

void readBackOff(FieldReader reader, TrafficRetry& retry) {
  if (const auto base = reader.duration("baseInterval")) retry.backoff = *base;
  retry.longestBackoff = retry.backoff * kBackOffGrowth;
  if (const auto most = reader.duration("maxInterval")) {
    retry.longestBackoff = *most;
    if (*most < retry.backoff) reader.error("maxInterval", "must not be less than baseInterval");
  }
  reader.finish();
}

void readAttemptTimeout(FieldReader& perRetry, TrafficRetry& retry) {
  const auto timeout = perRetry.duration("timeout");
  if (timeout && *timeout != base::Duration::zero()) retry.attemptTimeout = *timeout;
}

void readAttemptIdleTimeout(FieldReader& reader, std::string_view key, TrafficRetry& retry) {
  retry.attemptIdleTimeout = reader.duration(key).value_or(base::Duration::zero());
}

void readNumber(FieldReader& reader, std::string_view key, std::int64_t least, std::int64_t most,
                std::uint32_t& number) {
  if (const auto given = reader.integer(key, least, most)) number = static_cast<std::uint32_t>(*given);
}

void readSweepInterval(FieldReader& reader, std::string_view key, PassiveHealthSettings& passive) {
  const auto interval = reader.duration(key);
  if (!interval) return;
  passive.interval = *interval;
  if (*interval == base::Duration::zero()) reader.error(key, "must not be zero");
}

void refuseFields(FieldReader& reader, std::span<const std::string_view> keys,
                  std::vector<UnsupportedField>& unsupported) {
  for (const std::string_view key : keys) {
    reader.unsupported(key, std::string(key) + " is not supported", true, unsupported);
  }
}

}  // namespace sluice::config
