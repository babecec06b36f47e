// A FieldReader reads a map of a document into typed members and reports what is wrong with it. All checks of single
// fields are here.
//
// Every key that is asked for counts as known; finish() reports all others, each with a suggestion. Reading goes on
// after an error, so that a user sees all errors at once. A reader is short-lived: the document, the object's context
// and the path outlive it. A field that is null counts as absent, as in Kubernetes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "config/ground/patterns.h"
#include "config/ground/problem.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Collects the problems of one object.
class ObjectContext {
 public:
  /// `unknownFields` is the severity of an unknown field: an error in files, a warning in Kubernetes.
  ObjectContext(std::string object, Problems& problems, Severity unknownFields = Severity::kError)
      : object_(std::move(object)), problems_(problems), unknownFields_(unknownFields) {}

  void error(const Position& position, std::string field, std::string message);
  void warning(const Position& position, std::string field, std::string message);
  void unknownField(const Position& position, std::string field, std::string message);

  /// Returns the number of errors so far. A reader that saw it grow knows that its part was not legible.
  std::size_t errors() const { return errors_; }
  /// Returns the number of errors and of unknown fields so far, whatever the severity of those.
  std::size_t illegibleFields() const { return illegible_; }
  const std::string& object() const { return object_; }
  /// Returns the first error, with its field; empty if there is none.
  const std::string& firstError() const { return firstError_; }

 private:
  std::string object_;
  Problems& problems_;
  Severity unknownFields_;
  std::size_t errors_ = 0;
  std::size_t illegible_ = 0;
  std::string firstError_;
};

/// A word that a field accepts, and its meaning.
template <typename T>
struct Choice {
  std::string_view word;
  T value;
};

/// An element of a list.
struct Item {
  const Value* value;
  std::string path;
};

class FieldReader {
 public:
  /// `value` may be null or absent: then every field is absent. A value that is not a map is an error.
  FieldReader(const Value* value, std::string path, Position position, ObjectContext& context);

  const std::string& path() const { return path_; }
  std::string pathOf(std::string_view key) const;
  /// Returns the position of the field's value, or of the map if there is no such field.
  const Position& positionOf(std::string_view key) const;
  const Position& position() const { return position_; }
  ObjectContext& context() const { return context_; }

  bool has(std::string_view key) { return find(key) != nullptr; }
  /// Returns the field's value, or nullptr if it is absent or null. The key is known from now on.
  const Value* find(std::string_view key);
  /// Does the same as find(), but absence is an error.
  const Value* require(std::string_view key);
  /// Marks a field as known without reading it.
  void ignore(std::string_view key) { find(key); }
  /// Marks all fields as known, as for an object of another API.
  void ignoreOthers() { othersIgnored_ = true; }
  /// Reads a field that the API knows and this program does not serve; adds it to `unsupported` if it is present.
  void unsupported(std::string_view key, std::string message, bool altersTraffic,
                   std::vector<UnsupportedField>& unsupported);

  /// Returns an empty text if the field is absent or wrong. A text that is present must not be empty.
  std::string text(std::string_view key, const TextRule& rule);
  std::string requiredText(std::string_view key, const TextRule& rule);
  /// Does the same as text(), but accepts an empty text.
  std::string anyText(std::string_view key, std::size_t maxLength);
  bool boolean(std::string_view key, bool absent);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t minimum, std::int64_t maximum);
  std::uint16_t port(std::string_view key);          // 0 if absent
  std::uint16_t requiredPort(std::string_view key);  // 0 if absent, which is an error
  std::optional<base::Duration> duration(std::string_view key);

  /// Returns the meaning of the word; `absent` if the field is absent or wrong.
  template <typename T, std::size_t kCount>
  T choice(std::string_view key, const Choice<T> (&choices)[kCount], T absent, bool ignoreCase = false) {
    std::string_view words[kCount];
    for (std::size_t i = 0; i < kCount; ++i) words[i] = choices[i].word;
    const std::optional<std::size_t> index = choiceIndex(key, words, ignoreCase);
    return index ? choices[*index].value : absent;
  }

  /// Returns the elements of a list; none if it is absent. More than `maxItems` is an error, and returns the first
  /// thousand or so for the legible part of the object.
  std::vector<Item> list(std::string_view key, std::size_t maxItems);
  /// Returns the elements of a list of texts without the wrong ones.
  std::vector<std::string> texts(std::string_view key, const TextRule& rule, std::size_t maxItems);
  std::map<std::string, std::string> textMap(std::string_view key, std::size_t maxLength);
  FieldReader map(std::string_view key);
  FieldReader map(const Item& item) const;

  void error(std::string_view key, std::string message);

  /// Reports every field that was never asked for.
  void finish();

 private:
  std::optional<std::size_t> choiceIndex(std::string_view key, std::span<const std::string_view> words,
                                         bool ignoreCase);

  const Value* value_;  // a map or nullptr
  std::string path_;
  Position position_;
  ObjectContext& context_;
  std::vector<std::string_view> known_;  // keys are literals
  bool othersIgnored_ = false;
};

/// Returns `value` as a text that obeys `rule`. Reports an error with `path` and returns nullopt if it does not.
std::optional<std::string> readText(const Value& value, const std::string& path, const TextRule& rule,
                                    ObjectContext& context);
/// Returns a decimal integer. Reports an error and returns nullopt if `value` is not one or is out of range.
std::optional<std::int64_t> readInteger(const Value& value, const std::string& path, std::int64_t minimum,
                                        std::int64_t maximum, ObjectContext& context);

}  // namespace sluice::config
