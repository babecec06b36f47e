// This is the table of kinds: it says everything that the configuration has to know of a kind, in one line for each.
// Reading, finding by name, the last good version, revisions and the shape of statuses all go by it, and none of them
// names a kind.
//
// So another kind is the type of its objects, with a member `meta`; a reader of them; and its line here. What they are
// told is a line of the control plane's own table (proxy/control/compile/status/status_table.h), by the same types.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <typeinfo>

#include "config/fields/field_reader.h"
#include "config/model/covers.h"
#include "config/model/model.h"
#include "config/model/status_shape.h"

namespace sluice::config {

struct KindTraits {
  bool namespaced = true;
  /// Objects of a kind without one have no status.
  std::optional<StatusShape> status = std::nullopt;
  Covers covers = Covers::kRevision;
  /// A ReferenceGrant may let other namespaces use it. XBackend has to be in the route's own (GEP-4894).
  bool crossesNamespaces = true;
};

struct ObjectKind : KindTraits {
  std::string_view group;  // empty: the core group
  std::string_view kind;
  std::span<const std::string_view> versions;
  /// The type of its objects says which list of the Model they are in; kinds may share one.
  const std::type_info* type = nullptr;
  /// Reads and finishes `root`. nullptr if the schema refuses it; what is legible of it goes into `rejected` then.
  std::shared_ptr<const void> (*read)(FieldReader& root, ObjectMeta meta, Rejected& rejected) = nullptr;
  /// Puts what `read` made into its list.
  void (*put)(const std::shared_ptr<const void>& object, Model& model) = nullptr;
  /// Puts the version of `refused` that `previous` has into `model`; false if it has none.
  bool (*keep)(const Rejected& refused, const Model& previous, Model& model) = nullptr;

  bool hasVersion(std::string_view version) const;
  template <typename Object>
  bool isOf() const {
    return *type == typeid(Object);
  }
};

std::span<const ObjectKind> objectKinds();
/// nullptr if no reader takes it.
const ObjectKind* findObjectKind(std::string_view group, std::string_view kind);
/// Known to users of Gateway API, and not served.
bool isUnbuiltKind(std::string_view group, std::string_view kind);
/// The kind that a misspelt one probably meant; empty if none.
std::string_view closestKind(std::string_view kind);

}  // namespace sluice::config
