#include "filters/expression/expression.h"

#include <array>
#include <utility>

#include "filters/expression/evaluator.h"
#include "filters/expression/parser.h"

namespace sluice::filters {

base::Result<Expression> Expression::compile(std::string_view source, MessageSide side, BodyReads& reads,
                                             ExpressionPatterns& patterns) {
  const auto syntax = parseExpression(source);
  if (!syntax) return syntax.error();
  auto program = resolveExpression(*syntax, side, reads, patterns);
  if (!program) return std::move(program).error();
  return Expression(std::move(program).value());
}

Datum Expression::evaluate(const ExpressionInput& input, Meter& meter) const {
  const Datum result = Evaluator(program_, input, meter).value(program_.nodes.size() - 1);
  if (meter.isExhausted()) return Datum::error("the evaluation takes too many steps or too much memory");
  const bool isLong = !result.isError() && result.text().size() > kMostResultBytes;
  return isLong ? Datum::error("the value is too long") : result;
}

const Datum* Expression::literal() const {
  const ExpressionNode& root = program_.nodes.back();
  const bool isLiteral = root.kind == NodeKind::kConstant && root.constant.is(DatumType::kString);
  return isLiteral ? &root.constant : nullptr;
}

}  // namespace sluice::filters
