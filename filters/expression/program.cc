#include "filters/expression/program.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "filters/expression/lexer.h"
#include "proxy/base/text.h"

namespace sluice::filters {
namespace {

/// Macros and conversions of CEL that are refused with their name.
constexpr std::array<std::string_view, 13> kKnownToCel = {"all",       "exists",   "exists_one", "map", "filter",
                                                          "uint",      "bytes",    "bool",       "dyn", "type",
                                                          "timestamp", "duration", "getFullYear"};

/// Returns true for the names of the objects whose attributes expressions read.
bool isObject(std::string_view name) { return name == "request" || name == "response" || name == "source"; }

/// Resolves one expression. The first error is kept in fault_; the values that functions return after that have no
/// meaning.
class NameResolution {
 public:
  NameResolution(MessageSide side, BodyReads& reads, ExpressionPatterns& patterns)
      : side_(side), reads_(reads), patterns_(patterns) {}

  base::Result<Program> whole(const Syntax& root) {
    resolve(root);
    if (fault_) return *std::move(fault_);
    return std::move(program_);
  }

 private:
  std::uint16_t fail(const Syntax& at, std::string_view what) {
    if (!fault_) fault_ = expressionError(at.position, what);
    return 0;
  }
  std::uint16_t put(ExpressionNode node, std::span<const std::uint16_t> operands = {});
  std::uint16_t constant(const Datum& value);
  std::uint16_t text(std::string_view value);

  std::uint16_t resolve(const Syntax& syntax);
  std::uint16_t select(const Syntax& syntax);
  std::uint16_t attribute(const Syntax& syntax);
  std::uint16_t call(const Syntax& syntax);
  std::uint16_t has(const Syntax& syntax);
  std::uint16_t matches(const Syntax& syntax);
  std::uint16_t several(ExpressionNode node, const Syntax& syntax);

  const AttributeRow* attributeOf(const Syntax& syntax) const;
  bool isBody(const Syntax& syntax) const;
  std::optional<BodyReads::Path> bodyPath(const Syntax& syntax) const;
  std::optional<std::uint16_t> field(const Syntax& at, const BodyReads::Path& path);

  const MessageSide side_;
  BodyReads& reads_;
  ExpressionPatterns& patterns_;
  Program program_;
  std::optional<base::Error> fault_;
};

std::uint16_t NameResolution::put(ExpressionNode node, std::span<const std::uint16_t> operands) {
  node.first = static_cast<std::uint32_t>(program_.operands.size());
  node.count = static_cast<std::uint32_t>(operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  program_.nodes.push_back(node);
  return static_cast<std::uint16_t>(program_.nodes.size() - 1);
}

std::uint16_t NameResolution::constant(const Datum& value) {
  ExpressionNode node;
  node.constant = value;
  return put(node);
}

std::uint16_t NameResolution::text(std::string_view value) {
  return constant(Datum::string(program_.strings.emplace_back(value)));
}

std::uint16_t NameResolution::resolve(const Syntax& syntax) {
  ExpressionNode node;
  switch (syntax.kind) {
    case SyntaxKind::kNull:
      return constant({});
    case SyntaxKind::kBool:
      return constant(Datum::boolean(syntax.integer != 0));
    case SyntaxKind::kInt:
      return constant(Datum::integer(syntax.integer));
    case SyntaxKind::kDouble:
      return constant(Datum::real(syntax.real));
    case SyntaxKind::kString:
      return text(syntax.text);
    case SyntaxKind::kName:
      if (isObject(syntax.text)) {
        return fail(syntax, base::quote(syntax.text) + " alone is not supported; name one of its attributes");
      }
      return fail(syntax, "there is no variable " + base::quote(syntax.text));
    case SyntaxKind::kSelect:
      return select(syntax);
    case SyntaxKind::kIndex:
      if (const auto path = bodyPath(syntax)) return field(syntax, *path).value_or(0);
      node.kind = NodeKind::kIndex;
      return several(node, syntax);
    case SyntaxKind::kCall:
    case SyntaxKind::kMemberCall:
      return call(syntax);
    case SyntaxKind::kList:
      node.kind = NodeKind::kList;
      return several(node, syntax);
    case SyntaxKind::kOperation:
      node.kind = NodeKind::kOperation;
      node.operation = syntax.operation;
      return several(node, syntax);
  }
  return 0;
}

std::uint16_t NameResolution::several(ExpressionNode node, const Syntax& syntax) {
  std::vector<std::uint16_t> operands;
  for (const Syntax& child : syntax.children) operands.push_back(resolve(child));
  return put(node, operands);
}

std::uint16_t NameResolution::select(const Syntax& syntax) {
  if (syntax.children[0].kind == SyntaxKind::kName) return attribute(syntax);
  if (const auto path = bodyPath(syntax)) return field(syntax, *path).value_or(0);
  ExpressionNode node;
  node.kind = NodeKind::kIndex;
  const std::array operands = {resolve(syntax.children[0]), text(syntax.text)};
  return put(node, operands);
}

const AttributeRow* NameResolution::attributeOf(const Syntax& syntax) const {
  if (syntax.kind != SyntaxKind::kSelect || syntax.children[0].kind != SyntaxKind::kName) return nullptr;
  const std::string name = syntax.children[0].text + "." + syntax.text;
  const auto rows = expressionAttributes();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const AttributeRow& each) { return each.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::uint16_t NameResolution::attribute(const Syntax& syntax) {
  const Syntax& object = syntax.children[0];
  if (!isObject(object.text)) return resolve(object);
  const AttributeRow* row = attributeOf(syntax);
  if (row == nullptr) return fail(syntax, "there is no attribute " + base::quote(object.text + "." + syntax.text));
  if (object.text == "response" && side_ == MessageSide::kRequest) {
    return fail(syntax, std::string(row->name) + " is not known while the request is edited");
  }
  if (row->attribute == Attribute::kRequestBody && side_ == MessageSide::kResponse) {
    return fail(syntax, "request.body is not kept until the response is edited");
  }
  if (isBody(syntax)) reads_.addText();
  ExpressionNode node;
  node.kind = NodeKind::kAttribute;
  node.attribute = row->attribute;
  return put(node);
}

bool NameResolution::isBody(const Syntax& syntax) const {
  const AttributeRow* row = attributeOf(syntax);
  const Attribute body = side_ == MessageSide::kRequest ? Attribute::kRequestBody : Attribute::kResponseBody;
  return row != nullptr && row->attribute == body;
}

/// Returns the path of json(request.body).a["b"][0]; nullopt for anything else.
std::optional<BodyReads::Path> NameResolution::bodyPath(const Syntax& syntax) const {
  if (syntax.kind == SyntaxKind::kCall) {
    if (syntax.text != "json" || syntax.children.size() != 1 || !isBody(syntax.children[0])) return std::nullopt;
    return BodyReads::Path{};
  }
  if (syntax.kind != SyntaxKind::kSelect && syntax.kind != SyntaxKind::kIndex) return std::nullopt;
  auto path = bodyPath(syntax.children[0]);
  if (!path || path->size() == BodyReads::kMostSteps) return std::nullopt;
  if (syntax.kind == SyntaxKind::kSelect) {
    path->push_back({syntax.text, {}});
    return path;
  }
  const Syntax& key = syntax.children[1];
  if (key.kind == SyntaxKind::kString) {
    path->push_back({key.text, {}});
    return path;
  }
  const bool isIndex =
      key.kind == SyntaxKind::kInt && key.integer >= 0 && key.integer <= std::numeric_limits<std::int32_t>::max();
  if (!isIndex) return std::nullopt;
  path->push_back({{}, static_cast<std::int32_t>(key.integer)});
  return path;
}

std::optional<std::uint16_t> NameResolution::field(const Syntax& at, const BodyReads::Path& path) {
  const auto number = reads_.add(path);
  if (!number) {
    fail(at, "more than " + std::to_string(BodyReads::kMostPaths) + " fields of the body are read");
    return std::nullopt;
  }
  ExpressionNode node;
  node.kind = NodeKind::kField;
  node.path = static_cast<std::uint16_t>(*number);
  return put(node);
}

std::uint16_t NameResolution::call(const Syntax& syntax) {
  const bool isMember = syntax.kind == SyntaxKind::kMemberCall;
  const auto rows = expressionFunctions();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == syntax.text; });
  if (row == rows.end()) {
    const bool known = std::find(kKnownToCel.begin(), kKnownToCel.end(), syntax.text) != kKnownToCel.end();
    return fail(syntax, syntax.text + (known ? "() is not supported" : "() is no function"));
  }
  if (isMember ? !row->asMember : !row->asCall) {
    return fail(syntax, "the function is written " + std::string(row->shown));
  }
  if (syntax.children.size() < row->fewest || syntax.children.size() > row->most) {
    return fail(syntax, syntax.text + "() has another number of arguments: " + std::string(row->shown));
  }
  if (row->function == Function::kHas) return has(syntax.children[0]);
  if (row->function == Function::kMatches) return matches(syntax);
  if (const auto path = bodyPath(syntax)) return field(syntax, *path).value_or(0);
  ExpressionNode node;
  node.kind = NodeKind::kCall;
  node.function = row->function;
  return several(node, syntax);
}

std::uint16_t NameResolution::has(const Syntax& syntax) {
  if (syntax.kind != SyntaxKind::kSelect) {
    return fail(syntax, "has() takes a name behind a dot; \"in\" looks for other names");
  }
  if (attributeOf(syntax) != nullptr || syntax.children[0].kind == SyntaxKind::kName) {
    return fail(syntax, "has() takes a field of headers or of a JSON text");
  }
  ExpressionNode node;
  if (auto path = bodyPath(syntax)) {
    node.kind = NodeKind::kHasField;
    const auto found = reads_.add(*path);
    path->pop_back();
    const auto parent = reads_.add(*path);
    if (!found || !parent) return field(syntax, *path).value_or(0);
    node.path = static_cast<std::uint16_t>(*found);
    node.parent = static_cast<std::uint16_t>(*parent);
    return put(node);
  }
  node.kind = NodeKind::kHas;
  node.constant = Datum::string(program_.strings.emplace_back(syntax.text));
  const std::array operands = {resolve(syntax.children[0])};
  return put(node, operands);
}

std::uint16_t NameResolution::matches(const Syntax& syntax) {
  const Syntax& pattern = syntax.children[1];
  if (pattern.kind != SyntaxKind::kString) return fail(pattern, "the pattern of matches() must be a literal");
  auto compiled = patterns_.compile(pattern.text);
  if (!compiled) return fail(pattern, "the pattern " + compiled.error().detail);
  ExpressionNode node;
  node.kind = NodeKind::kMatches;
  node.pattern = static_cast<std::uint16_t>(program_.patterns.size());
  program_.patterns.push_back(std::move(compiled).value());
  const std::array operands = {resolve(syntax.children[0])};
  return put(node, operands);
}

}  // namespace

base::Result<Program> resolveExpression(const Syntax& root, MessageSide side, BodyReads& reads,
                                        ExpressionPatterns& patterns) {
  return NameResolution(side, reads, patterns).whole(root);
}

}  // namespace sluice::filters
