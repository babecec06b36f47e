// The table of the kinds that have a counterpart in our spelling. It has one line for each kind.
#pragma once

#include <string_view>

#include "config/convert/field_writer.h"
#include "config/convert/leftovers.h"

namespace sluice::config {

struct ConvertedKind {
  std::string_view group;
  std::string_view kind;
  // The counterpart.
  std::string_view newGroup;
  std::string_view newVersion;
  std::string_view newKind;
  /// Writes the fields of `spec` from an object that the reader of the kind made; null if both kinds have the same
  /// `spec`.
  void (*write)(const void* object, FieldWriter& spec, Leftovers& left) = nullptr;
};

/// Returns nullptr if the kind has no counterpart, or is one.
const ConvertedKind* findConvertedKind(std::string_view group, std::string_view kind);
/// Returns true if the group has kinds of other spellings alone. Those that are not in the table have no counterpart.
bool isForeignGroup(std::string_view group);

}  // namespace sluice::config
