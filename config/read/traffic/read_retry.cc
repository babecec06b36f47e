#include <algorithm>
#include <limits>

#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

// The API sets no bound. Users who need more attempts need a queue rather than a gateway that retries.
constexpr std::int64_t kMostAttempts = 10;
constexpr std::int64_t kLowestCode = 400;
constexpr std::int64_t kHighestCode = 599;

std::vector<std::uint16_t> readCodes(FieldReader& retry) {
  std::vector<std::uint16_t> codes;
  for (const Item& item : retry.list("codes", kHighestCode - kLowestCode + 1)) {
    const auto code = readInteger(*item.value, item.path, kLowestCode, kHighestCode, retry.context());
    if (!code) continue;
    const auto narrow = static_cast<std::uint16_t>(*code);
    if (std::find(codes.begin(), codes.end(), narrow) != codes.end()) {
      retry.context().error(item.value->position, item.path, "repeats a code of the list");
    } else {
      codes.push_back(narrow);
    }
  }
  return codes;
}

}  // namespace

void readRetryFields(FieldReader& reader, std::int64_t leastAttempts, HttpRouteRetry& retry,
                     std::vector<UnsupportedField>& unsupported) {
  retry.codes = readCodes(reader);
  if (const auto attempts = reader.integer("attempts", leastAttempts, std::numeric_limits<std::int64_t>::max())) {
    retry.attempts = static_cast<std::uint32_t>(std::min(*attempts, kMostAttempts));
    if (*attempts > kMostAttempts) {
      unsupported.push_back({reader.pathOf("attempts"), reader.positionOf("attempts"),
                             "at most " + std::to_string(kMostAttempts) + " are made", false});
    }
  }
  if (const auto backoff = reader.duration("backoff")) retry.backoff = *backoff;
}

std::optional<HttpRouteRetry> readRetry(FieldReader& rule, std::vector<UnsupportedField>& unsupported) {
  if (!rule.has("retry")) return std::nullopt;
  FieldReader reader = rule.map("retry");
  HttpRouteRetry retry;
  readRetryFields(reader, 1, retry, unsupported);
  reader.finish();
  return retry;
}

}  // namespace sluice::config
