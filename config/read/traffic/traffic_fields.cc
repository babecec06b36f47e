// Reads the parts that are the same in both forms of BackendTrafficPolicy.
#include <algorithm>
#include <cstdint>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxTrafficCodes = 500;
constexpr std::uint16_t kLeastRetriedCode = 400;
constexpr std::uint32_t kBackOffGrowth = 10;

}  // namespace

void addCodes(std::uint16_t first, std::uint16_t last, std::vector<std::uint16_t>& codes) {
  for (std::uint32_t code = first; code <= last; ++code) {
    const auto narrow = static_cast<std::uint16_t>(code);
    if (std::find(codes.begin(), codes.end(), narrow) == codes.end()) codes.push_back(narrow);
  }
}

void readTrafficCodes(FieldReader& reader, std::string_view key, std::vector<std::uint16_t>& codes) {
  for (const Item& item : reader.list(key, kMaxTrafficCodes)) {
    const auto code = readInteger(*item.value, item.path, {100, 599}, reader.context());
    if (!code) continue;
    const auto narrow = static_cast<std::uint16_t>(*code);
    if (narrow >= kLeastRetriedCode) {
      addCodes(narrow, narrow, codes);
    } else {
      reader.addUnsupported({item.path, item.value->position, "statuses below 400 are not tried again", true});
    }
  }
}

void readBackOff(FieldReader& reader, TrafficRetry& retry) {
  reader.read("baseInterval", retry.backoff);
  retry.longestBackoff = retry.backoff * kBackOffGrowth;
  reader.read("maxInterval", retry.longestBackoff);
  if (retry.longestBackoff < retry.backoff) reader.error("maxInterval", "must not be less than baseInterval");
}

void readAttemptTimeout(FieldReader& perRetry, TrafficRetry& retry) {
  perRetry.read("timeout", retry.attemptTimeout);
  if (retry.attemptTimeout == base::Duration::zero()) retry.attemptTimeout.reset();
}

}  // namespace sluice::config
