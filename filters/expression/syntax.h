// The tree of an expression as it is written, before its names are looked up.
//
// Plain value; lives for one compilation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::filters {

enum class Operator : std::uint8_t {
  kOr,
  kAnd,
  kEqual,
  kUnequal,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kNot,
  kNegate,
  kConditional
};

enum class SyntaxKind : std::uint8_t {
  kNull,
  kBool,
  kInt,
  kDouble,
  kString,
  kName,
  kSelect,      // child 0 is the operand, `text` the name
  kIndex,       // child 0 is the operand, child 1 the key
  kCall,        // `text` is the function, the children are the arguments
  kMemberCall,  // the same; child 0 is the expression before the dot
  kList,
  kOperation
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::kNull;
  Operator operation = Operator::kOr;  // kOperation
  std::uint32_t depth = 1;
  std::size_t position = 0;
  std::string text;          // a name, or a string
  std::int64_t integer = 0;  // of kBool too
  double real = 0;
  std::vector<Syntax> children;
};

}  // namespace sluice::filters
