// Evaluates a program on one message.
//
// Lives for one evaluation; one thread. It descends as deeply as the expression is nested.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "filters/expression/datum.h"
#include "filters/expression/input.h"
#include "filters/expression/meter.h"
#include "filters/expression/program.h"

namespace sluice::filters {

class Evaluator {
 public:
  Evaluator(const Program& program, const ExpressionInput& input, Meter& meter)
      : program_(program), input_(input), meter_(meter) {}

  /// Returns the value of one node.
  Datum value(std::size_t node);

 private:
  Datum operand(const ExpressionNode& node, std::size_t at) { return value(program_.operands[node.first + at]); }
  Datum attribute(Attribute attribute) const;
  Datum operation(const ExpressionNode& node);
  /// Returns the value of an && or ||. If one operand decides it, an error in the other one is ignored.
  Datum decided(const ExpressionNode& node, bool by);
  Datum list(const ExpressionNode& node);
  Datum call(const ExpressionNode& node);
  Datum matches(const ExpressionNode& node);
  Datum parsed(const Datum& text);
  Datum has(const Datum& holder, std::string_view name);
  Datum at(const Datum& holder, const Datum& key);
  Datum size(const Datum& value);
  /// Returns the values of all lines of that name, joined by commas.
  Datum field(bool ofResponse, std::string_view name);

  const Program& program_;
  const ExpressionInput& input_;
  Meter& meter_;
};

}  // namespace sluice::filters
