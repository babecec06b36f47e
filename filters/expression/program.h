// An expression whose names are resolved: nodes in one array, operands by index, ready to be evaluated.
//
// Immutable once made; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "filters/expression/body_reads.h"
#include "filters/expression/datum.h"
#include "filters/expression/pattern.h"
#include "filters/expression/syntax.h"
#include "filters/expression/vocabulary.h"
#include "proxy/base/result.h"

namespace sluice::filters {

enum class NodeKind : std::uint8_t {
  kConstant,   // `constant`
  kAttribute,  // `attribute`
  kField,      // the body's value at `path`
  kHasField,   // whether there is such a value; `parent` contains it
  kHas,        // whether operand 0 has a member named `constant`
  kIndex,      // operand 0 at operand 1
  kList,
  kOperation,  // `operation`
  kCall,       // `function`
  kMatches     // operand 0 and `pattern`
};

struct ExpressionNode {
  NodeKind kind = NodeKind::kConstant;
  Operator operation = Operator::kOr;
  Attribute attribute = Attribute::kRequestMethod;
  Function function = Function::kHas;
  std::uint16_t path = 0;
  std::uint16_t parent = 0;
  std::uint16_t pattern = 0;
  std::uint32_t first = 0;  // of `operands`
  std::uint32_t count = 0;
  Datum constant;
};

struct Program {
  Program() = default;
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  std::vector<ExpressionNode> nodes;  // the last one is the root
  std::vector<std::uint16_t> operands;
  std::vector<ExpressionPattern> patterns;
  std::deque<std::string> strings;  // never move
};

/// Resolves the names of an expression that edits `side`, adds the paths that it reads in the body to `reads`, and
/// compiles its patterns. Errors have config's origin and name the position.
base::Result<Program> resolveExpression(const Syntax& root, MessageSide side, BodyReads& reads,
                                        ExpressionPatterns& patterns);

}  // namespace sluice::filters
