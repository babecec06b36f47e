#include "filters/expression/evaluator.h"

#include <algorithm>
#include <array>
#include <string>

#include "filters/expression/arithmetic.h"
#include "filters/expression/comparison.h"
#include "filters/expression/json_part.h"
#include "filters/expression/text_functions.h"
#include "proxy/base/text.h"
#include "proxy/content/json_locate.h"

namespace sluice::filters {
namespace {

constexpr std::string_view kTooManySteps = "the evaluation takes too many steps";

}  // namespace

Datum Evaluator::value(std::size_t index) {
  const ExpressionNode& node = program_.nodes[index];
  if (!meter_.step()) return Datum::error(kTooManySteps);
  switch (node.kind) {
    case NodeKind::kConstant:
      return node.constant;
    case NodeKind::kAttribute:
      return attribute(node.attribute);
    case NodeKind::kField:
      return input_.body->read(node.path, meter_);
    case NodeKind::kHasField:
      return input_.body->has(node.path, node.parent, meter_);
    case NodeKind::kHas:
      return has(operand(node, 0), node.constant.text());
    case NodeKind::kIndex: {
      const Datum holder = operand(node, 0);
      if (holder.isError()) return holder;
      const Datum key = operand(node, 1);
      return key.isError() ? key : at(holder, key);
    }
    case NodeKind::kList:
      return list(node);
    case NodeKind::kOperation:
      return operation(node);
    case NodeKind::kCall:
      return call(node);
    case NodeKind::kMatches:
      return matches(node);
  }
  return noOverload();
}

Datum Evaluator::attribute(Attribute attribute) const {
  const http::RequestHead& request = input_.request;
  switch (attribute) {
    case Attribute::kRequestMethod:
      return Datum::string(request.methodText);
    case Attribute::kRequestScheme:
      return Datum::string(http::schemeName(request.scheme));
    case Attribute::kRequestHost:
      return Datum::string(request.authority);
    case Attribute::kRequestPath:
      return Datum::string(request.openTarget());
    case Attribute::kRequestUrlPath:
      return Datum::string(request.path());
    case Attribute::kRequestQuery:
      return Datum::string(request.secretControl ? std::string_view() : request.query());
    case Attribute::kRequestHeaders:
      return Datum::headers(false);
    case Attribute::kResponseHeaders:
      return Datum::headers(true);
    case Attribute::kResponseCode:
      return Datum::integer(input_.response->status);
    case Attribute::kRequestBody:
    case Attribute::kResponseBody:
      return Datum::string(input_.body->text());
    case Attribute::kSourceAddress:
      return Datum::string(input_.peer.address);
    case Attribute::kSourceNamespace:
      return Datum::string(input_.peer.nameSpace);
    case Attribute::kSourceServiceAccount:
      return Datum::string(input_.peer.serviceAccount);
    case Attribute::kSourcePrincipal:
      return Datum::string(input_.peer.principal);
    case Attribute::kSourceAssurance:
      return Datum::string(processing::shownAssurance(input_.peer));
  }
  return noOverload();
}

Datum Evaluator::operation(const ExpressionNode& node) {
  const Operator which = node.operation;
  if (which == Operator::kOr || which == Operator::kAnd) return decided(node, which == Operator::kOr);
  const Datum first = operand(node, 0);
  if (first.isError()) return first;
  if (which == Operator::kConditional) {
    if (!first.is(DatumType::kBool)) return noOverload();
    return operand(node, first.asBool() ? 1 : 2);
  }
  if (which == Operator::kNegate) return negated(first);
  if (which == Operator::kNot) return first.is(DatumType::kBool) ? Datum::boolean(!first.asBool()) : noOverload();
  const Datum second = operand(node, 1);
  if (second.isError()) return second;
  switch (which) {
    case Operator::kEqual:
      return isEqual(first, second, meter_);
    case Operator::kUnequal: {
      const Datum equal = isEqual(first, second, meter_);
      return equal.isError() ? equal : Datum::boolean(!equal.asBool());
    }
    case Operator::kLess:
    case Operator::kLessOrEqual:
    case Operator::kGreater:
    case Operator::kGreaterOrEqual:
      return isOrdered(which, first, second);
    case Operator::kIn:
      if (!second.is(DatumType::kHeaders)) return isIn(first, second, meter_);
      return first.is(DatumType::kString) ? has(second, first.text()) : Datum::boolean(false);
    case Operator::kAdd:
    case Operator::kSubtract:
    case Operator::kMultiply:
    case Operator::kDivide:
    case Operator::kRemainder:
      return calculated(which, first, second, meter_);
    case Operator::kOr:
    case Operator::kAnd:
    case Operator::kNot:
    case Operator::kNegate:
    case Operator::kConditional:
      break;
  }
  return noOverload();
}

Datum Evaluator::decided(const ExpressionNode& node, bool by) {
  const Datum first = operand(node, 0);
  if (first.is(DatumType::kBool) && first.asBool() == by) return first;
  const Datum second = operand(node, 1);
  if (second.is(DatumType::kBool) && second.asBool() == by) return second;
  if (!first.is(DatumType::kBool)) return first.isError() ? first : noOverload();
  if (!second.is(DatumType::kBool)) return second.isError() ? second : noOverload();
  return Datum::boolean(!by);
}

Datum Evaluator::list(const ExpressionNode& node) {
  if (node.count == 0) return Datum::list({});
  auto* const items = meter_.array<Datum>(node.count);
  if (items == nullptr) return Datum::error("a value is too long");
  for (std::size_t i = 0; i < node.count; ++i) {
    items[i] = operand(node, i);
    if (items[i].isError()) return items[i];
  }
  return Datum::list({items, node.count});
}

Datum Evaluator::call(const ExpressionNode& node) {
  std::array<Datum, 4> arguments;
  for (std::size_t i = 0; i < node.count; ++i) {
    arguments[i] = operand(node, i);
    if (arguments[i].isError()) return arguments[i];
  }
  switch (node.function) {
    case Function::kJson:
      return parsed(arguments[0]);
    case Function::kSize:
      return size(arguments[0]);
    case Function::kString:
      return toString(arguments[0], meter_);
    case Function::kInt:
      return toInt(arguments[0]);
    case Function::kDouble:
      return toDouble(arguments[0]);
    case Function::kHas:
    case Function::kMatches:
    case Function::kStartsWith:
    case Function::kEndsWith:
    case Function::kContains:
    case Function::kLowerAscii:
    case Function::kUpperAscii:
    case Function::kTrim:
    case Function::kReplace:
    case Function::kSplit:
    case Function::kSubstring:
      break;
  }
  return callTextFunction(node.function, std::span(arguments).first(node.count), meter_);
}

Datum Evaluator::matches(const ExpressionNode& node) {
  const Datum text = operand(node, 0);
  if (text.isError()) return text;
  if (!text.is(DatumType::kString)) return noOverload();
  const ExpressionPattern& pattern = program_.patterns[node.pattern];
  if (!meter_.spend(pattern.stepsFor(text.text().size()))) return Datum::error(kTooManySteps);
  return Datum::boolean(pattern.occursIn(text.text()));
}

Datum Evaluator::parsed(const Datum& text) {
  if (!text.is(DatumType::kString)) return noOverload();
  if (!meter_.step(text.text().size())) return Datum::error(kTooManySteps);
  const content::JsonPath whole;
  std::string_view found;
  if (!content::locateJson(text.text(), {&whole, 1}, {&found, 1})) return Datum::error("a text is no JSON");
  return jsonDatum(found, meter_);
}

Datum Evaluator::has(const Datum& holder, std::string_view name) {
  if (holder.isError()) return holder;
  if (holder.is(DatumType::kHeaders)) {
    const Datum found = field(holder.ofResponse(), name);
    return Datum::boolean(!found.isError());
  }
  if (!holder.isJsonMap()) return noOverload();
  if (!meter_.step(holder.text().size())) return Datum::error(kTooManySteps);
  return Datum::boolean(jsonMember(holder.text(), name).has_value());
}

Datum Evaluator::at(const Datum& holder, const Datum& key) {
  if (holder.is(DatumType::kHeaders))
    return key.is(DatumType::kString) ? field(holder.ofResponse(), key.text()) : noOverload();
  if (holder.is(DatumType::kList)) {
    if (!key.is(DatumType::kInt)) return noOverload();
    const auto index = static_cast<std::uint64_t>(key.asInt());
    return index < holder.items().size() ? holder.items()[index] : Datum::error("a list has no such element");
  }
  if (!holder.is(DatumType::kJson)) return noOverload();
  if (!meter_.step(holder.text().size())) return Datum::error(kTooManySteps);
  if (holder.isJsonMap() ? !key.is(DatumType::kString) : !key.is(DatumType::kInt)) return noOverload();
  const auto found =
      holder.isJsonMap() ? jsonMember(holder.text(), key.text()) : jsonElement(holder.text(), key.asInt());
  return found ? jsonDatum(*found, meter_) : Datum::error("a JSON text has no such field");
}

Datum Evaluator::size(const Datum& value) {
  if (!meter_.step(value.text().size())) return Datum::error(kTooManySteps);
  const auto integer = [](std::size_t size) { return Datum::integer(static_cast<std::int64_t>(size)); };
  if (value.is(DatumType::kString)) return integer(countCharacters(value.text()));
  if (value.is(DatumType::kList)) return integer(value.items().size());
  return value.is(DatumType::kJson) ? integer(jsonSize(value.text())) : noOverload();
}

Datum Evaluator::field(bool ofResponse, std::string_view name) {
  const http::Headers& headers = ofResponse ? input_.response->headers : input_.request.headers;
  const std::string lower = base::toLower(name);
  if (!ofResponse && lower == "host") return Datum::string(input_.request.authority);
  if (!meter_.spend(headers.size())) return Datum::error(kTooManySteps);
  Datum joined = Datum::error("the message has no such header field");
  for (const http::Field& each : headers) {
    if (each.name != lower || http::isInjected(each.care)) continue;
    if (joined.isError()) {
      joined = Datum::string(each.value);
      continue;
    }
    const Datum comma = calculated(Operator::kAdd, joined, Datum::string(","), meter_);
    joined = comma.isError() ? comma : calculated(Operator::kAdd, comma, Datum::string(each.value), meter_);
    if (joined.isError()) break;
  }
  return joined;
}

}  // namespace sluice::filters
