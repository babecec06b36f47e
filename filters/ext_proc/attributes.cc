#include "filters/ext_proc/attributes.h"

#include <utility>

#include "filters/expression/arithmetic.h"

namespace sluice::filters::ext_proc {

base::Result<Attributes> Attributes::read(const content::Value* list, MessageSide side,
                                          const processing::WorkBounds& bounds) {
  Attributes attributes;
  attributes.mostSteps_ = bounds.steps;
  ExpressionPatterns patterns(bounds);
  if (list == nullptr) return {std::move(attributes)};
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string& name = list->items[i].text;
    const std::string place = "[" + std::to_string(i) + "]: ";
    BodyReads reads;
    auto value = Expression::compile(name, side, reads, patterns);
    if (!value) return base::Error::config(place + value.error().detail);
    if (reads.any()) return base::Error::config(place + "an attribute cannot be read from the body");
    attributes.attributes_.emplace_back(name, std::move(value).value());
  }
  return {std::move(attributes)};
}

std::optional<content::Value> Attributes::valuesIn(const processing::Call& call, const processing::Peer& peer) const {
  using Kind = content::Value::Kind;
  content::Value values;
  values.kind = Kind::kMap;
  for (const auto& [name, expression] : attributes_) {
    Meter meter(call.arena, workOf(call), mostSteps_);
    Datum value = expression.evaluate({call.request, peer, call.response, nullptr}, meter);
    const Kind kind = value.isNumber() ? Kind::kNumber : value.is(DatumType::kBool) ? Kind::kBool : Kind::kString;
    if (!value.isError()) value = toString(value, meter);
    if (meter.isSpent()) return std::nullopt;
    if (value.isError()) continue;
    content::Member& member = values.members.emplace_back();
    member.key = name;
    member.value.kind = kind;
    member.value.text = value.text();
  }
  return values;
}

}  // namespace sluice::filters::ext_proc
