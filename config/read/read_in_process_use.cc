// Reads GEP-5091's InProcess: expressions that edit header and body fields. Edits of headers whose values are plain
// literals become a use of kHeaderModifier; everything else is kept as it was written and cannot run.
#include "config/read/processor_readers.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxEdits = 64;
constexpr std::size_t kMaxExpressionBytes = 4096;
constexpr std::string_view kInProcessPhase = "request-headers";

/// Returns the text of a CEL string literal without escapes; none for any other expression.
std::optional<std::string> literal(std::string_view expression) {
  if (expression.size() < 2) return std::nullopt;
  const char mark = expression.front();
  if ((mark != '"' && mark != '\'') || expression.back() != mark) return std::nullopt;
  const std::string_view text = expression.substr(1, expression.size() - 2);
  if (text.find(mark) != std::string_view::npos || text.find('\\') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

void readSetHeader(FieldReader reader, Value& set, std::vector<UnsupportedField>& unsupported) {
  const std::string name = reader.requiredText("name", rule::kHeaderName);
  reader.require("value");
  const std::string expression = reader.anyText("value", kMaxExpressionBytes);
  const Position& position = reader.positionOf("value");
  reader.finish();
  const std::optional<std::string> text = literal(expression);
  if (!text) {
    unsupported.push_back(UnsupportedField{reader.pathOf("value"), position,
                                           "expressions other than string literals are not supported", true});
    return;
  }
  if (!isHeaderValue(*text)) reader.error("value", "must be a header value, but is " + base::quote(*text));
  Value entry = emptyValue(Value::Kind::kMap, reader.position());
  addMember(entry, "name", scalarValue(Value::Kind::kString, name, reader.position()));
  addMember(entry, "value", scalarValue(Value::Kind::kString, *text, position));
  set.items.push_back(std::move(entry));
}

/// Reads a name, or a map that holds nothing but a name.
std::string readName(FieldReader& holder, const Item& item, const TextRule& rule) {
  if (!item.value->isMap()) return readText(*item.value, item.path, rule, holder.context()).value_or("");
  FieldReader reader = holder.map(item);
  std::string name = reader.requiredText("name", rule);
  reader.finish();
  return name;
}

void readBodyEdits(FieldReader& request, std::vector<UnsupportedField>& unsupported) {
  for (const Item& item : request.list("setBodyFields", kMaxEdits)) {
    FieldReader field = request.map(item);
    field.requiredText("name", rule::kAnyText);
    field.require("value");
    field.anyText("value", kMaxExpressionBytes);
    field.finish();
  }
  for (const Item& item : request.list("removeBodyFields", kMaxEdits)) readName(request, item, rule::kAnyText);
  for (const std::string_view key : {"setBodyFields", "removeBodyFields"}) {
    const Value* given = request.find(key);
    if (given == nullptr || given->items.empty()) continue;
    unsupported.push_back(
        UnsupportedField{request.pathOf(key), given->position, std::string(key) + " is not supported", true});
  }
}

/// Turns the edits of headers into the config of HeaderModifier.
Value readRequest(FieldReader request, std::vector<UnsupportedField>& unsupported) {
  Value set = emptyValue(Value::Kind::kList, request.positionOf("setHeaders"));
  Value remove = emptyValue(Value::Kind::kList, request.positionOf("removeHeaders"));
  for (const Item& item : request.list("setHeaders", kMaxEdits)) readSetHeader(request.map(item), set, unsupported);
  for (const Item& item : request.list("removeHeaders", kMaxEdits)) {
    const std::string name = readName(request, item, rule::kHeaderName);
    remove.items.push_back(scalarValue(Value::Kind::kString, name, item.value->position));
  }
  readBodyEdits(request, unsupported);
  request.finish();
  Value config = emptyValue(Value::Kind::kMap, request.position());
  if (!set.items.empty()) addMember(config, "set", std::move(set));
  if (!remove.items.empty()) addMember(config, "remove", std::move(remove));
  return config;
}

}  // namespace

void readInProcessUse(FieldReader& use, ProcessorUse& result) {
  result.failOpen = readFailOpen(use).value_or(false);
  result.phase = kInProcessPhase;
  if (use.has("extProcess")) use.error("extProcess", "must not be given when type is InProcess");
  use.require("inProcess");
  FieldReader inProcess = use.map("inProcess");
  if (use.has("inProcess")) inProcess.require("request");
  Value modifier = readRequest(inProcess.map("request"), result.unsupported);
  inProcess.unsupported("response", "edits of responses are not supported", true, result.unsupported);
  inProcess.finish();
  const bool modifierSaysItAll = result.unsupported.empty();
  result.type = modifierSaysItAll ? processor_type::kHeaderModifier : processor_type::kInProcess;
  if (modifierSaysItAll) {
    result.config = std::move(modifier);
  } else {
    result.config = *use.find("inProcess");
  }
}

}  // namespace sluice::config
