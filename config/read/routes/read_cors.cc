#include <algorithm>
#include <limits>

#include "config/read/routes/route_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNames = 64;
constexpr std::size_t kMaxMethods = 9;

/// Reads a list with x-kubernetes-list-type: set.
std::vector<std::string> readSet(FieldReader& reader, std::string_view key, const TextRule& rule,
                                 std::size_t maxItems) {
  std::vector<std::string> texts = reader.texts(key, rule, maxItems);
  for (auto text = texts.begin(); text != texts.end(); ++text) {
    if (std::find(texts.begin(), text, *text) != text) reader.error(key, "has \"" + *text + "\" twice");
  }
  return texts;
}

/// Reads a list of the same type in which "*" means everything. If "*" is present, it must be the only element.
std::vector<std::string> readSetOrAll(FieldReader& reader, std::string_view key, const TextRule& rule,
                                      std::size_t maxItems) {
  std::vector<std::string> texts = readSet(reader, key, rule, maxItems);
  if (texts.size() > 1 && std::find(texts.begin(), texts.end(), "*") != texts.end()) {
    reader.error(key, "must not have \"*\" beside others");
  }
  return texts;
}

}  // namespace

void readCors(FieldReader& reader, CorsFilter& cors) {
  cors.path = reader.path();
  cors.allowOrigins = readSetOrAll(reader, "allowOrigins", rule::kCorsOrigin, kMaxNames);
  cors.allowMethods = readSetOrAll(reader, "allowMethods", rule::kCorsMethod, kMaxMethods);
  cors.allowHeaders = readSetOrAll(reader, "allowHeaders", rule::kHeaderName, kMaxNames);
  cors.exposeHeaders = readSet(reader, "exposeHeaders", rule::kHeaderName, kMaxNames);
  reader.read("allowCredentials", cors.allowCredentials);
  reader.read("maxAge", cors.maxAge, {1, std::numeric_limits<std::int32_t>::max()});
}

}  // namespace sluice::config
