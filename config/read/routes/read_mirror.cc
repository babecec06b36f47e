#include <limits>

#include "config/read/routes/route_readers.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kPercent = 100;

void readFraction(FieldReader& reader, RequestMirrorFilter& mirror) {
  mirror.numerator = 0;
  mirror.denominator = kPercent;
  reader.read(required("numerator"), mirror.numerator, {0, kMost});
  reader.read("denominator", mirror.denominator, {1, kMost});
  if (mirror.numerator > mirror.denominator) reader.error("numerator", "must not be greater than denominator");
}

}  // namespace

void readRequestMirror(FieldReader& reader, RequestMirrorFilter& mirror) {
  reader.read(required("backendRef"), mirror, readHttpBackendObjectReference);
  if (const auto percent = reader.integer("percent", 0, kPercent)) {
    mirror.numerator = static_cast<std::uint32_t>(*percent);
    mirror.denominator = kPercent;
  }
  if (reader.has("fraction") && reader.has("percent")) {
    reader.error("fraction", "must not be given together with percent");
  }
  reader.read("fraction", mirror, readFraction);
}

}  // namespace sluice::config
