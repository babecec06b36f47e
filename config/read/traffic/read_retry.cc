#include <algorithm>
#include <limits>
#include <string>

#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

// The API has no limit. Users who need more attempts need a queue rather than a gateway that retries.
constexpr std::int64_t kMostAttempts = 10;
constexpr std::int64_t kLowestCode = 400;
constexpr std::int64_t kHighestCode = 599;

void readCodes(FieldReader& retry, std::vector<std::uint16_t>& codes) {
  for (const Item& item : retry.list("codes", kHighestCode - kLowestCode + 1)) {
    const auto code = readInteger(*item.value, item.path, {kLowestCode, kHighestCode}, retry.context());
    if (!code) continue;
    const auto narrow = static_cast<std::uint16_t>(*code);
    if (std::find(codes.begin(), codes.end(), narrow) != codes.end()) {
      retry.error(item, "repeats a code of the list");
    } else {
      codes.push_back(narrow);
    }
  }
}

}  // namespace

void readRetryCount(FieldReader& reader, std::string_view key, const NumberRange& range, HttpRouteRetry& retry) {
  const auto count = reader.integer(key, range.least, range.most);
  if (!count) return;
  retry.attempts = static_cast<std::uint32_t>(std::min(*count, kMostAttempts));
  if (*count <= kMostAttempts) return;
  reader.addUnsupported(
      {reader.pathOf(key), reader.positionOf(key), "at most " + std::to_string(kMostAttempts) + " are made", false});
}

void readRetryFields(FieldReader& reader, std::int64_t leastAttempts, HttpRouteRetry& retry) {
  readCodes(reader, retry.codes);
  readRetryCount(reader, "attempts", {leastAttempts, std::numeric_limits<std::int64_t>::max()}, retry);
  reader.read("backoff", retry.backoff);
}

void readRetry(FieldReader& reader, HttpRouteRetry& retry) { readRetryFields(reader, 1, retry); }

}  // namespace sluice::config
