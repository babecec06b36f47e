#include "settings.h"

#include <cctype>
#include <cstdlib>
#include <optional>

namespace pii {
namespace {

/// Reads the members of a map whose values are strings and numbers.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) : left_(text) {}

  /// Calls take(key, value) for each member. Returns false if the text is something else.
  template <typename Take>
  bool each(Take&& take) {
    if (!skip('{')) return false;
    if (skip('}')) return true;
    do {
      const std::optional<std::string> key = string();
      if (!key || !skip(':')) return false;
      const std::optional<std::string> value = peek() == '"' ? string() : scalar();
      if (!value) return false;
      take(*key, *value);
    } while (skip(','));
    return skip('}');
  }

 private:
  char peek() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0) left_.remove_prefix(1);
    return left_.empty() ? '\0' : left_.front();
  }
  bool skip(char c) {
    if (peek() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> string() {
    if (!skip('"')) return std::nullopt;
    std::string text;
    while (!left_.empty() && left_.front() != '"') {
      if (left_.front() == '\\') {
        left_.remove_prefix(1);
        if (left_.empty()) return std::nullopt;
      }
      text += left_.front();  // an escape stands for its letter, which is enough for names
      left_.remove_prefix(1);
    }
    if (left_.empty()) return std::nullopt;
    left_.remove_prefix(1);
    return text;
  }
  std::optional<std::string> scalar() {
    peek();
    const std::size_t size = left_.find_first_of(",} \t\r\n");
    std::string text(left_.substr(0, size));
    left_.remove_prefix(text.size());
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  std::string_view left_;
};

}  // namespace

std::string readSettings(std::string_view json, Settings& settings) {
  std::string fault;
  const bool isMap = FlatJson(json).each([&](const std::string& key, const std::string& value) {
    if (key == "modelRef") {
      settings.modelRef = value;
    } else if (key == "redactionStyle") {
      if (value != "mask" && value != "delete" && value != "hash") fault = key + ": must be mask, delete or hash";
      settings.style = value == "delete" ? Style::kDelete : value == "hash" ? Style::kHash : Style::kMask;
    } else if (key == "confidenceThreshold") {
      settings.threshold = std::strtod(value.c_str(), nullptr);
      if (!(settings.threshold >= 0 && settings.threshold <= 1)) fault = key + ": must be between 0 and 1";
    } else if (key == "maxBodyBytes") {
      settings.mostBytes = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      fault = key + ": is not known";
    }
  });
  if (!isMap) return "must be a map of strings and numbers";
  return fault.empty() && settings.modelRef.empty() ? "modelRef: is required" : fault;
}

}  // namespace pii
