#include "filters/expression/parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "filters/expression/lexer.h"
#include "proxy/base/text.h"

namespace sluice::filters {
namespace {

struct BinaryMark {
  std::string_view mark;
  Operator operation;
  int precedence;
};
constexpr std::array<BinaryMark, 14> kBinaryMarks = {{{"||", Operator::kOr, 1},
                                                      {"&&", Operator::kAnd, 2},
                                                      {"==", Operator::kEqual, 3},
                                                      {"!=", Operator::kUnequal, 3},
                                                      {"<", Operator::kLess, 3},
                                                      {"<=", Operator::kLessOrEqual, 3},
                                                      {">", Operator::kGreater, 3},
                                                      {">=", Operator::kGreaterOrEqual, 3},
                                                      {"in", Operator::kIn, 3},
                                                      {"+", Operator::kAdd, 4},
                                                      {"-", Operator::kSubtract, 4},
                                                      {"*", Operator::kMultiply, 5},
                                                      {"/", Operator::kDivide, 5},
                                                      {"%", Operator::kRemainder, 5}}};

/// The words that CEL keeps for itself (langdef.md, RESERVED).
constexpr std::array<std::string_view, 16> kReserved = {"as",        "break",  "const",  "continue", "else", "for",
                                                        "function",  "if",     "import", "let",      "loop", "package",
                                                        "namespace", "return", "var",    "while"};

/// Descends through the grammar. The first error is kept in fault(), and all functions return at once after it.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view source) : lexer_(source) { advance(); }

  base::Result<Syntax> whole() {
    Syntax root = conditional();
    if (!fault_ && token_.kind != Lexeme::Kind::kEnd) failAt(token_.position, "nothing more was expected here");
    if (fault_) return *std::move(fault_);
    return root;
  }

 private:
  bool atMark(std::string_view mark) const { return token_.kind == Lexeme::Kind::kMark && token_.text == mark; }
  bool atName(std::string_view name) const { return token_.kind == Lexeme::Kind::kName && token_.text == name; }
  void advance();
  bool take(std::string_view mark);
  void expect(std::string_view mark);
  void failAt(std::size_t position, std::string_view what) {
    if (!fault_) fault_ = expressionError(position, what);
    token_ = {};
  }

  Syntax leaf(SyntaxKind kind, std::size_t position);
  Syntax join(SyntaxKind kind, std::size_t position, std::vector<Syntax> children);
  Syntax operation(Operator which, std::size_t position, std::vector<Syntax> children);

  Syntax conditional();
  Syntax binary(int lowest);
  const BinaryMark* binaryMark() const;
  Syntax unary();
  Syntax member(bool negative);
  Syntax primary(bool negative);
  Syntax number(bool negative);
  Syntax name();
  std::vector<Syntax> arguments(std::string_view closing);

  ExpressionLexer lexer_;
  Lexeme token_;
  std::optional<base::Error> fault_;
  std::size_t nodes_ = 0;
  std::size_t nesting_ = 0;
};

void ExpressionParser::advance() {
  if (fault_) return;
  auto next = lexer_.next();
  if (next) {
    token_ = std::move(next).value();
  } else {
    fault_ = std::move(next).error();
    token_ = {};
  }
}

bool ExpressionParser::take(std::string_view mark) {
  if (!atMark(mark)) return false;
  advance();
  return true;
}

void ExpressionParser::expect(std::string_view mark) {
  if (!take(mark)) failAt(token_.position, base::quote(mark) + " is missing");
}

Syntax ExpressionParser::leaf(SyntaxKind kind, std::size_t position) {
  Syntax made;
  made.kind = kind;
  made.position = position;
  if (++nodes_ > kMostExpressionNodes) failAt(position, "the expression has too many parts");
  return made;
}

Syntax ExpressionParser::join(SyntaxKind kind, std::size_t position, std::vector<Syntax> children) {
  Syntax made = leaf(kind, position);
  for (const Syntax& child : children) made.depth = std::max(made.depth, child.depth + 1);
  if (made.depth > kMostExpressionDepth) failAt(position, "the expression is nested too deeply");
  made.children = std::move(children);
  return made;
}

Syntax ExpressionParser::operation(Operator which, std::size_t position, std::vector<Syntax> children) {
  Syntax made = join(SyntaxKind::kOperation, position, std::move(children));
  made.operation = which;
  return made;
}

Syntax ExpressionParser::conditional() {
  if (++nesting_ > kMostExpressionDepth) failAt(token_.position, "the expression is nested too deeply");
  Syntax condition = binary(1);
  const std::size_t position = token_.position;
  if (take("?")) {
    Syntax chosen = binary(1);
    expect(":");
    Syntax other = conditional();
    condition =
        operation(Operator::kConditional, position, {std::move(condition), std::move(chosen), std::move(other)});
  }
  --nesting_;
  return condition;
}

const BinaryMark* ExpressionParser::binaryMark() const {
  if (token_.kind != Lexeme::Kind::kMark && !atName("in")) return nullptr;
  const auto* const found = std::find_if(kBinaryMarks.begin(), kBinaryMarks.end(),
                                         [this](const BinaryMark& each) { return each.mark == token_.text; });
  return found == kBinaryMarks.end() ? nullptr : found;
}

Syntax ExpressionParser::binary(int lowest) {
  Syntax left = unary();
  for (const BinaryMark* mark = binaryMark(); mark != nullptr && mark->precedence >= lowest; mark = binaryMark()) {
    const std::size_t position = token_.position;
    advance();
    Syntax right = binary(mark->precedence + 1);
    left = operation(mark->operation, position, {std::move(left), std::move(right)});
  }
  if (atMark("=")) failAt(token_.position, "\"=\" is no operator; \"==\" compares");
  return left;
}

Syntax ExpressionParser::unary() {
  if (!atMark("!") && !atMark("-")) return member(false);
  const bool negates = atMark("-");
  const std::size_t position = token_.position;
  advance();
  if (negates && (token_.kind == Lexeme::Kind::kInt || token_.kind == Lexeme::Kind::kDouble)) return member(true);
  if (!fault_ && (negates ? atMark("!") : atMark("-"))) {
    failAt(token_.position, "\"!\" and \"-\" do not follow each other without parentheses");
  }
  if (++nesting_ > kMostExpressionDepth) failAt(position, "the expression is nested too deeply");
  Syntax operand = unary();
  --nesting_;
  return operation(negates ? Operator::kNegate : Operator::kNot, position, {std::move(operand)});
}

Syntax ExpressionParser::member(bool negative) {
  Syntax operand = primary(negative);
  while (atMark(".") || atMark("[") || atMark("{")) {
    const std::size_t position = token_.position;
    if (take("[")) {
      if (atMark("?")) failAt(token_.position, "optional values are not supported");
      Syntax key = conditional();
      expect("]");
      operand = join(SyntaxKind::kIndex, position, {std::move(operand), std::move(key)});
      continue;
    }
    if (!take(".")) failAt(position, "messages are not supported");
    if (atMark("?")) failAt(token_.position, "optional values are not supported");
    if (token_.kind != Lexeme::Kind::kName) {
      failAt(token_.position, "a name is missing behind the dot");
      return operand;
    }
    const Lexeme selector = token_;
    advance();
    if (selector.text == "in" || selector.text == "true" || selector.text == "false" || selector.text == "null") {
      failAt(selector.position, base::quote(selector.text) + " cannot be a name; write it in brackets and quotes");
    }
    const bool isCall = take("(");
    std::vector<Syntax> children;
    if (isCall) children = arguments(")");
    children.insert(children.begin(), std::move(operand));
    operand = join(isCall ? SyntaxKind::kMemberCall : SyntaxKind::kSelect, selector.position, std::move(children));
    operand.text = selector.text;
  }
  return operand;
}

Syntax ExpressionParser::primary(bool negative) {
  const std::size_t position = token_.position;
  switch (token_.kind) {
    case Lexeme::Kind::kInt:
    case Lexeme::Kind::kDouble:
      return number(negative);
    case Lexeme::Kind::kString: {
      Syntax literal = leaf(SyntaxKind::kString, position);
      literal.text = std::move(token_.string);
      advance();
      return literal;
    }
    case Lexeme::Kind::kName:
      return name();
    case Lexeme::Kind::kMark:
      break;
    case Lexeme::Kind::kEnd:
      failAt(position, "a value is missing");
      return {};
  }
  if (take("(")) {
    Syntax inner = conditional();
    expect(")");
    return inner;
  }
  if (take("[")) {
    std::vector<Syntax> items = arguments("]");
    return join(SyntaxKind::kList, position, std::move(items));
  }
  failAt(position, atMark("{")   ? "literals of maps are not supported"
                   : atMark(".") ? "names that begin with a dot are not supported"
                                 : "a value is missing");
  return {};
}

Syntax ExpressionParser::number(bool negative) {
  const bool isReal = token_.kind == Lexeme::Kind::kDouble;
  Syntax literal = leaf(isReal ? SyntaxKind::kDouble : SyntaxKind::kInt, token_.position);
  literal.real = negative ? -token_.real : token_.real;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (token_.magnitude > kLargest + (negative ? 1 : 0)) failAt(literal.position, "a number is out of range");
  // The lowest number has no positive counterpart; the conversion is modular.
  literal.integer = static_cast<std::int64_t>(negative ? 0 - token_.magnitude : token_.magnitude);
  advance();
  return literal;
}

Syntax ExpressionParser::name() {
  const Lexeme word = token_;
  advance();
  if (word.text == "null") return leaf(SyntaxKind::kNull, word.position);
  if (word.text == "true" || word.text == "false") {
    Syntax literal = leaf(SyntaxKind::kBool, word.position);
    literal.integer = word.text == "true" ? 1 : 0;
    return literal;
  }
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), word.text) != kReserved.end();
  if (reserved || word.text == "in") failAt(word.position, base::quote(word.text) + " is a reserved word");
  Syntax made;
  if (take("(")) {
    std::vector<Syntax> given = arguments(")");
    made = join(SyntaxKind::kCall, word.position, std::move(given));
  } else {
    made = leaf(SyntaxKind::kName, word.position);
  }
  made.text = word.text;
  return made;
}

/// Reads values between commas, and the bracket after them. Only a list may have a comma after its last value.
std::vector<Syntax> ExpressionParser::arguments(std::string_view closing) {
  std::vector<Syntax> values;
  if (take(closing)) return values;
  do {
    if (closing == "]" && !values.empty() && atMark("]")) break;
    if (atMark("?")) failAt(token_.position, "optional values are not supported");
    values.push_back(conditional());
  } while (take(","));
  expect(closing);
  return values;
}

}  // namespace

base::Result<Syntax> parseExpression(std::string_view source) {
  if (source.size() > kMostExpressionBytes) {
    return expressionError(kMostExpressionBytes,
                           "the expression is longer than " + std::to_string(kMostExpressionBytes) + " bytes");
  }
  if (const std::size_t wrong = base::findInvalidUtf8OrControl(source); wrong != std::string_view::npos) {
    return expressionError(wrong, "the text is no UTF-8, or has a control character");
  }
  return ExpressionParser(source).whole();
}

}  // namespace sluice::filters
