// Defines the keys of rows of readers, and the values that rows allow; see FieldReader::read().
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// The key of a row. If a required field is absent, that is an error.
struct FieldKey {
  std::string_view name;
  bool isRequired = false;

  constexpr FieldKey(std::string_view key) : name(key) {}  // NOLINT(google-explicit-constructor)
  constexpr FieldKey(const char* key) : name(key) {}       // NOLINT(google-explicit-constructor)
  constexpr FieldKey(std::string_view key, bool required) : name(key), isRequired(required) {}
};
constexpr FieldKey required(std::string_view key) { return {key, true}; }

/// The numbers that a row allows.
struct NumberRange {
  std::int64_t least;
  std::int64_t most;
};
inline constexpr NumberRange kPorts{1, 65535};

/// The durations that a row allows; `fault` is the message for all others.
struct TimeRule {
  base::Duration least = base::Duration::zero();
  base::Duration most = base::Duration::max();
  std::string_view fault = {};
};
inline constexpr TimeRule kNotZero{base::Duration(1), base::Duration::max(), "must not be zero"};
inline constexpr TimeRule kLongerThanZero{base::Duration(1), base::Duration::max(), "must be longer than 0s"};

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

/// A model that stores the place where it was written.
template <typename T>
concept HasPlace = requires(T& model) {
  { model.path } -> std::same_as<std::string&>;
  { model.position } -> std::same_as<Position&>;
};

/// A model that stores the unsupported fields inside it.
template <typename T>
concept HoldsUnsupported = requires(T& model) {
  { model.unsupported } -> std::same_as<std::vector<UnsupportedField>&>;
};

class FieldReader;
/// A function that reads the fields of a map into a model. The caller calls FieldReader::finish().
template <typename Fields, typename T>
concept ReadsFields = std::invocable<Fields, FieldReader&, T&>;

}  // namespace sluice::config
