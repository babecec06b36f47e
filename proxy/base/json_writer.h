// Writes JSON text: objects and lists, commas and escapes. The output is valid UTF-8 for any input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::base {

class JsonWriter {
 public:
  JsonWriter& beginObject() { return open('{'); }
  JsonWriter& endObject() { return close('}'); }
  JsonWriter& beginList() { return open('['); }
  JsonWriter& endList() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(std::int64_t value);
  /// Writes a value that is JSON already.
  JsonWriter& json(std::string_view value);

  JsonWriter& member(std::string_view name, std::string_view value) { return key(name).text(value); }
  JsonWriter& member(std::string_view name, std::int64_t value) { return key(name).number(value); }

  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string text_;
};

}  // namespace sluice::base
