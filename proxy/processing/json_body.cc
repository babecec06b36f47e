#include "proxy/processing/json_body.h"

#include "proxy/content/json.h"

namespace sluice::processing {

base::Result<JsonBody> JsonBody::parse(const Body& body) {
  std::string text = body.bytes().text();
  auto value = content::parseJson(text, {.bytes = text.size()});
  if (!value) return std::move(value).error();
  return JsonBody(std::move(text), std::move(value).value());
}

base::Status JsonBody::apply(Body& body) const {
  if (edits_.empty()) return base::Done{};
  auto changed = content::editJson(text_, edits_);
  if (!changed) return std::move(changed).error();
  body.replacement().append(*changed);
  return base::Done{};
}

}  // namespace sluice::processing
