#include "proxy/http/max_forwards.h"

#include <algorithm>
#include <string>

#include "proxy/http/field_section.h"

namespace sluice::http {

bool endsHere(const RequestHead& head) {
  const Field* field = head.headers.find(FieldId::kMaxForwards);
  return field != nullptr && parseContentLength(field->value) == 0;
}

base::Status countForwards(base::Arena& arena, RequestHead& head) {
  const auto isCount = [](const Field& field) { return field.id == FieldId::kMaxForwards; };
  const auto lines = std::count_if(head.headers.begin(), head.headers.end(), isCount);
  if (lines == 0 || endsHere(head)) return base::Done{};
  const auto count = parseContentLength(head.headers.find(FieldId::kMaxForwards)->value);
  if (!count || lines > 1) return base::Error::badRequest(400, "Max-Forwards is not one number");
  head.headers.set(arena, fieldName(FieldId::kMaxForwards), arena.copy(std::to_string(*count - 1)));
  return base::Done{};
}

}  // namespace sluice::http
