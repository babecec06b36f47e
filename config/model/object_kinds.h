// The table of kinds: which documents are ours, and which reader takes each.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

struct ObjectKind {
  std::string_view group;  // empty: the core group
  std::string_view kind;
  std::span<const std::string_view> versions;
  bool namespaced;
  /// Reads and finishes `root`. nullptr if the schema refuses it; what is legible of it goes into `rejected` then.
  std::shared_ptr<const void> (*read)(FieldReader& root, ObjectMeta meta, Rejected& rejected);
  /// Puts what `read` made into the list of its kind.
  void (*put)(const std::shared_ptr<const void>& object, Model& model);

  bool hasVersion(std::string_view version) const;
};

/// nullptr if no reader takes it.
const ObjectKind* findObjectKind(std::string_view group, std::string_view kind);
/// Known to users of Gateway API, and not served.
bool isUnbuiltKind(std::string_view group, std::string_view kind);
/// The kind that a misspelt one probably meant; empty if none.
std::string_view closestKind(std::string_view kind);

}  // namespace sluice::config
