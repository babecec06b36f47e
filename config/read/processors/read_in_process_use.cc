// Reads GEP-5091's InProcess, which has expressions that edit header fields and body fields. Edits of request headers
// whose values are plain literals become a use of kHeaderModifier. Everything else is kept as written for kInProcess,
// and the maker of its processors compiles the expressions.
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxEdits = 64;
constexpr std::size_t kMaxExpressionBytes = 4096;
constexpr std::string_view kModifierPhase = "request-headers";

/// Returns the text of a CEL string literal without escapes; nullopt for any other expression.
std::optional<std::string> literal(std::string_view expression) {
  if (expression.size() < 2) return std::nullopt;
  const char mark = expression.front();
  if ((mark != '"' && mark != '\'') || expression.back() != mark) return std::nullopt;
  const std::string_view text = expression.substr(1, expression.size() - 2);
  if (text.find(mark) != std::string_view::npos || text.find('\\') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

/// Reads one edit and adds it to `set`. Returns false if it has an expression other than a literal.
bool readSetHeader(FieldReader reader, Value& set) {
  const std::string name = reader.requiredText("name", rule::kHeaderName);
  reader.require("value");
  const std::string expression = reader.anyText("value", kMaxExpressionBytes);
  reader.finish();
  const std::optional<std::string> text = literal(expression);
  if (!text) return false;
  if (!isHeaderValue(*text)) reader.error("value", "must be a header value, but is " + base::quote(*text));
  Value& entry = set.items.emplace_back(emptyMap(reader.position()));
  addText(entry, "name", name);
  addMember(entry, "value", textValue(*text, reader.positionOf("value")));
  return true;
}

/// Reads a name, or a map with only a name.
std::string readName(FieldReader& holder, const Item& item, const TextRule& rule) {
  if (!item.value->isMap()) return readText(*item.value, item.path, rule, holder.context()).value_or("");
  FieldReader reader = holder.map(item);
  std::string name = reader.requiredText("name", rule);
  reader.finish();
  return name;
}

/// Reports all errors in an edit of the body, which is kept as written.
void checkBodyEdit(FieldReader field) {
  field.requiredText("name", rule::kAnyText);
  field.require("value");
  field.anyText("value", kMaxExpressionBytes);
  field.finish();
}

/// Returns false if there are edits of the body.
bool readBodyEdits(FieldReader& message) {
  const std::vector<Item> set = message.list("setBodyFields", kMaxEdits);
  const std::vector<Item> removed = message.list("removeBodyFields", kMaxEdits);
  for (const Item& item : set) checkBodyEdit(message.map(item));
  for (const Item& item : removed) readName(message, item, rule::kAnyText);
  return set.empty() && removed.empty();
}

/// Returns the edits of headers in the form of HeaderModifier's config; nullopt if that form cannot express all edits.
std::optional<Value> readMessage(FieldReader message) {
  Value set = emptyValue(Value::Kind::kList, message.positionOf("setHeaders"));
  Value remove = emptyValue(Value::Kind::kList, message.positionOf("removeHeaders"));
  bool isPlain = true;
  for (const Item& item : message.list("setHeaders", kMaxEdits)) {
    if (!readSetHeader(message.map(item), set)) isPlain = false;
  }
  for (const Item& item : message.list("removeHeaders", kMaxEdits)) {
    remove.items.push_back(textValue(readName(message, item, rule::kHeaderName), item.value->position));
  }
  if (!readBodyEdits(message)) isPlain = false;
  message.finish();
  if (!isPlain) return std::nullopt;
  Value config = emptyMap(message.position());
  if (!set.items.empty()) addMember(config, "set", std::move(set));
  if (!remove.items.empty()) addMember(config, "remove", std::move(remove));
  return config;
}

}  // namespace

void readInProcessUse(FieldReader& use, ProcessorUse& result) {
  result.failOpen = readFailOpen(use).value_or(false);
  use.checkGoesWith("extProcess", false, "type is InProcess");
  use.require("inProcess");
  FieldReader inProcess = use.map("inProcess");
  const bool hasResponse = inProcess.has("response");
  if (inProcess.given() && !hasResponse) inProcess.require("request");
  std::optional<Value> modifier = readMessage(inProcess.map("request"));
  if (hasResponse) readMessage(inProcess.map("response"));
  inProcess.finish();
  if (modifier && !hasResponse) {
    result.type = processor_type::kHeaderModifier;
    result.phase = kModifierPhase;
    result.config = std::move(*modifier);
  } else {
    result.type = processor_type::kInProcess;
    result.config = *use.find("inProcess");
    result.configField = "inProcess";
  }
}

}  // namespace sluice::config
