#include "proxy/processing/field_edits.h"

#include <algorithm>

#include "proxy/base/terms/reserved_fields.h"
#include "proxy/base/text.h"
#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"

namespace sluice::processing {
namespace {

bool isOfGateway(std::string_view lowerCaseName) {
  return lowerCaseName == "host" || base::isLoopField(lowerCaseName) || http::isReservedField(lowerCaseName);
}

}  // namespace

base::Result<std::string> editableField(std::string_view name) {
  if (!http::isFieldName(name)) return base::Error::config("is not the name of a header field");
  std::string lower = base::toLower(name);
  if (isOfGateway(lower)) return base::Error::config(lower + " belongs to the gateway and cannot be changed");
  return lower;
}

std::string_view editableField(std::string_view name, base::Arena& arena) {
  char* const lower = arena.bytes(name.size());
  bool isName = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char byte = http::tokenLower(name[i]);
    lower[i] = byte;
    isName = isName && byte != 0;
  }
  const std::string_view made(lower, name.size());
  return isName && !isOfGateway(made) ? made : std::string_view();
}

base::Result<FieldEdits> FieldEdits::read(const content::Value& config) {
  FieldEdits edits;
  if (auto status = readFields(config, "set", edits.set_); !status) return std::move(status).error();
  if (auto status = readFields(config, "add", edits.add_); !status) return std::move(status).error();
  const content::Value* remove = config.find("remove");
  for (std::size_t i = 0; remove != nullptr && i < remove->items.size(); ++i) {
    auto name = editableField(remove->items[i].text);
    if (!name) return base::Error::config("remove[" + std::to_string(i) + "]: " + name.error().detail);
    edits.remove_.emplace_back(http::fieldId(*name), *name);
  }
  return edits;
}

base::Status FieldEdits::readFields(const content::Value& config, std::string_view member, Fields& fields) {
  const content::Value* list = config.find(member);
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const std::string where = std::string(member) + "[" + std::to_string(i) + "]";
    const content::Value* name = list->items[i].find("name");
    const content::Value* value = list->items[i].find("value");
    if (name == nullptr || value == nullptr) return base::Error::config(where + ": name and value are required");
    auto field = editableField(name->text);
    if (!field) return base::Error::config(where + ".name: " + field.error().detail);
    if (!http::isFieldValue(value->text)) {
      return base::Error::config(where + ".value: is not the value of a header field");
    }
    fields.emplace_back(std::move(field).value(), value->text);
  }
  return base::Done{};
}

void FieldEdits::apply(base::Arena& arena, http::Headers& headers) const {
  for (const auto& [name, value] : set_) {
    headers.removeTwins(name);
    headers.add(arena, name, value);
  }
  for (const auto& [name, value] : add_) headers.add(arena, name, value);
  for (const auto& [id, name] : remove_) headers.removeTwins(name);
}

void FieldEdits::withhold(http::Headers& fields) const {
  for (const auto& [name, value] : set_) fields.removeTwins(name);
  for (const auto& [id, name] : remove_) fields.removeTwins(name);
}

void FieldEdits::apply(RequestEditor& editor) const {
  for (const auto& [name, value] : set_) {
    editor.removeTwins(name);
    editor.add(name, value);
  }
  for (const auto& [name, value] : add_) editor.add(name, value);
  for (const auto& [id, name] : remove_) editor.removeTwins(name);
}

}  // namespace sluice::processing
