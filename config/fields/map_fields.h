// MapFields are the fields of a map. They record which fields are known, where they are, and which are wrong or not
// supported.
//
// A key becomes known when a reader asks for it. finish() reports all other keys, each with a suggestion. A field that
// is null is treated as absent, as in Kubernetes. The document, the object's context and the path must outlive this
// object.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields/field_rules.h"
#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "config/ground/problem.h"

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

  /// Returns the number of errors so far. If it grows while a reader reads a part, that part is not valid.
  std::size_t errors() const { return errors_; }
  /// Returns the number of errors and of unknown fields so far. Unknown fields are included whatever their severity is.
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

class MapFields {
 public:
  /// `value` may be null or absent, and then every field is absent. If it is not a map, that is an error.
  MapFields(const Value* value, std::string path, Position position, ObjectContext& context);

  const std::string& path() const { return path_; }
  std::string pathOf(std::string_view key) const;
  /// Returns the position of the field's value, or of the map if there is no such field.
  const Position& positionOf(std::string_view key) const;
  const Position& position() const { return position_; }
  ObjectContext& context() const { return context_; }

  /// Returns true unless the map is absent or null. The value may be something else than a map.
  bool given() const { return given_; }
  /// Returns true if no error was found in the map so far.
  bool isLegible() const { return context_.errors() == errorsBefore_; }
  /// Returns nullptr if the value is not a map.
  const Value* value() const { return value_; }
  /// Returns a copy of the map without nulls and unknown fields. The value must be a map.
  Value knownPart() const;
  bool has(std::string_view key) { return find(key) != nullptr; }
  /// Returns the field's value, or nullptr if it is absent or null. The key becomes known.
  const Value* find(std::string_view key);
  /// Does the same as find(), but absence is an error.
  const Value* require(std::string_view key);
  /// Does the same as require() for a required key, and the same as find() for any other.
  const Value* valueOf(const FieldKey& key) { return key.isRequired ? require(key.name) : find(key.name); }
  /// Marks a field as known without reading it.
  void ignore(std::string_view key) { find(key); }
  /// Marks all fields as known, for example for an object of another API.
  void ignoreOthers() { othersIgnored_ = true; }

  /// Stores the unsupported fields of this map, and of maps inside it, in `unsupported`.
  void collectUnsupported(std::vector<UnsupportedField>& unsupported) { unsupported_ = &unsupported; }
  void addUnsupported(UnsupportedField field) { unsupported_->push_back(std::move(field)); }
  /// Reads a field that the API has and this program does not support, and notes it if it is present.
  void unsupported(std::string_view key, std::string message, bool altersTraffic = true);
  /// Does the same for a field that alters traffic, with "KEY is not supported" as the message.
  void refuse(std::string_view key) { unsupported(key, std::string(key) + " is not supported"); }
  void refuse(std::span<const std::string_view> keys) {
    for (const std::string_view key : keys) refuse(key);
  }

  void error(std::string_view key, std::string message);
  /// Reports an error about the map itself.
  void error(std::string message) { context_.error(position_, path_, std::move(message)); }
  /// Reports an error about an element of one of its lists.
  void error(const Item& item, std::string message) {
    context_.error(item.value->position, item.path, std::move(message));
  }
  /// Reports a field that is present if it must be absent, or absent if it must be present. `condition` is the reason,
  /// for example "type is Ip".
  void checkGoesWith(std::string_view key, bool wanted, const std::string& condition);

  /// Reports every field that is not known. Only the first call has an effect.
  void finish();

 protected:
  std::vector<UnsupportedField>* unsupportedList() const { return unsupported_; }

 private:
  const Value* value_;  // points to a map, or is nullptr
  bool given_;
  std::string path_;
  Position position_;
  ObjectContext& context_;
  std::size_t errorsBefore_;
  std::vector<UnsupportedField>* unsupported_ = nullptr;
  std::vector<std::string_view> known_;  // the keys are literals
  bool othersIgnored_ = false;
};

/// Returns "must be a list, but is a string". For a value that is almost right, the text suggests the correction.
std::string wrongKind(std::string_view expected, const Value& value);

}  // namespace sluice::config
