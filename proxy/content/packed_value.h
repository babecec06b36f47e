// A PackedValue keeps a Value as bytes: hardly more than its text as compact JSON, where the tree takes up to sixty
// times as much. It is for values that are kept whether or not anybody uses them.
//
// A plain value. Kinds, texts, the order of members and, if the whole has a file, the places of all parts in it come
// back as they were.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/content/value.h"

namespace sluice::content {

class PackedValue {
 public:
  PackedValue() = default;          // null
  PackedValue(const Value& value);  // NOLINT(google-explicit-constructor): a Value may be stored like any other

  Value unpacked() const;
  /// Unpacks the member `key`; nullopt if there is none or this is no map.
  std::optional<Value> find(std::string_view key) const;

  Value::Kind kind() const;
  bool isNull() const { return kind() == Value::Kind::kNull; }
  bool isMap() const { return kind() == Value::Kind::kMap; }
  /// Returns the number of bytes without the positions, which is that of compact JSON at most, but for one byte, and a
  /// few for each long string.
  std::size_t size() const { return bytes_.size(); }
  const Position& position() const { return position_; }

  /// Compares two values and ignores their positions in files.
  friend bool operator==(const PackedValue& a, const PackedValue& b) { return a.bytes_ == b.bytes_; }
  /// Does the same without packing the other one.
  friend bool operator==(const PackedValue& a, const Value& b) { return a.holds(b); }

 private:
  bool holds(const Value& value) const;

  std::string bytes_;   // empty for null
  std::string places_;  // of all parts in the file; empty without a file
  Position position_;
};

}  // namespace sluice::content
