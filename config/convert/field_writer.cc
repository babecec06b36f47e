#include "config/convert/field_writer.h"

#include <utility>

#include "proxy/base/duration.h"

namespace sluice::config {

FieldWriter& FieldWriter::text(std::string_view key, std::string_view text) {
  return text.empty() ? *this : anyText(key, text);
}

FieldWriter& FieldWriter::anyText(std::string_view key, std::string_view text) {
  addScalar(key, Value::Kind::kString, text);
  return *this;
}

FieldWriter& FieldWriter::texts(std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) addTexts(map_, key, texts, map_.position);
  return *this;
}

FieldWriter& FieldWriter::textMap(std::string_view key, const std::map<std::string, std::string>& texts) {
  if (texts.empty()) return *this;
  Value& inner = addMap(map_, key);
  for (const auto& [name, text] : texts) addText(inner, name, text);
  return *this;
}

FieldWriter& FieldWriter::flag(std::string_view key, const std::optional<bool>& flag) {
  if (flag) addFlag(map_, key, *flag);
  return *this;
}

FieldWriter& FieldWriter::time(std::string_view key, const std::optional<base::Duration>& time) {
  return time ? text(key, base::formatDuration(*time)) : *this;
}

FieldWriter& FieldWriter::value(std::string_view key, const std::optional<PackedValue>& value) {
  if (value) addMember(map_, key, value->unpacked());
  return *this;
}

void FieldWriter::addScalar(std::string_view key, Value::Kind kind, std::string_view text) {
  addMember(map_, key, scalarValue(kind, text, map_.position));
}

}  // namespace sluice::config
