#include <limits>

#include "config/read/routes/route_readers.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kPercent = 100;

void readFraction(FieldReader reader, RequestMirrorFilter& mirror) {
  reader.require("numerator");
  const std::int64_t numerator = reader.integer("numerator", 0, kMost).value_or(0);
  const std::int64_t denominator = reader.integer("denominator", 1, kMost).value_or(kPercent);
  if (numerator > denominator) reader.error("numerator", "must not be greater than denominator");
  mirror.numerator = static_cast<std::uint32_t>(numerator);
  mirror.denominator = static_cast<std::uint32_t>(denominator);
  reader.finish();
}

}  // namespace

RequestMirrorFilter readRequestMirror(FieldReader reader) {
  RequestMirrorFilter mirror;
  reader.require("backendRef");
  if (reader.has("backendRef")) {
    FieldReader ref = reader.map("backendRef");
    mirror.object = readObjectRef(ref, {"", "Service"}, true);
    mirror.port = ref.port("port");
    if (mirror.object.group.empty() && mirror.object.kind == "Service" && !ref.has("port")) {
      ref.error("port", "is required for a Service");
    }
    ref.finish();
  }
  if (const auto percent = reader.integer("percent", 0, kPercent)) {
    mirror.numerator = static_cast<std::uint32_t>(*percent);
    mirror.denominator = kPercent;
  }
  if (reader.has("fraction")) {
    if (reader.has("percent")) reader.error("fraction", "must not be given together with percent");
    readFraction(reader.map("fraction"), mirror);
  }
  reader.finish();
  return mirror;
}

}  // namespace sluice::config
