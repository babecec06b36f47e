#include "proxy/http/max_forwards.h"

#include <algorithm>
#include <string>

#include "proxy/http/field_section.h"

namespace sluice::http {

base::Status countForwards(base::Arena& arena, RequestHead& head) {
  const auto isCount = [](const Field& field) { return field.id == FieldId::kMaxForwards; };
  const auto lines = std::count_if(head.headers.begin(), head.headers.end(), isCount);
  if (lines == 0) return base::Done{};
  const auto count = parseContentLength(head.headers.find(FieldId::kMaxForwards)->value);
  if (!count || lines > 1) return base::Error::badRequest(400, "Max-Forwards is not one number");
  if (*count == 0) {
    head.forwardsSpent = true;
    return base::Done{};
  }
  head.headers.set(arena, fieldName(FieldId::kMaxForwards), arena.copy(std::to_string(*count - 1)));
  return base::Done{};
}

}  // namespace sluice::http
