// The table of kinds. One line for each kind holds everything that the configuration needs to know about it. Reading,
// finding by name, the last good version, revisions and the shape of statuses use this table, and none of them names a
// kind.
//
// So a new kind needs a type for its objects with a member `meta`, a reader, and a line here. Its statuses are a line
// in the control plane's own tables, by the same types: proxy/compile/status/status_table.h, and for policies
// proxy/compile/policy_kinds.h.
#pragma once

#include <functional>
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
  /// Objects of a kind without a shape have no status.
  std::optional<StatusShape> status = std::nullopt;
  Covers covers = Covers::kRevision;
  /// A ReferenceGrant may let other namespaces use it. An XBackend must be in the route's own namespace (GEP-4894).
  bool crossesNamespaces = true;
};

struct ObjectKind : KindTraits {
  std::string_view group;  // empty: the core group
  std::string_view kind;
  std::span<const std::string_view> versions;
  /// The type of its objects, which decides their list in the Model; kinds may share one type.
  const std::type_info* type = nullptr;
  /// Reads and finishes `root`. Returns nullptr if the schema refuses it and stores the legible part in `rejected`.
  std::shared_ptr<const void> (*read)(FieldReader& root, ObjectMeta meta, Rejected& rejected) = nullptr;
  /// Puts an object made by `read` into its list.
  void (*put)(const std::shared_ptr<const void>& object, Model& model) = nullptr;
  /// Puts the version of `refused` that `previous` has into `model`. Returns false if it has none.
  bool (*keep)(const Rejected& refused, const Model& previous, Model& model) = nullptr;

  /// Returns the object of the kind with that name; nullptr if there is none.
  const ObjectMeta* (*find)(const ObjectKind& kind, const Model& model, std::string_view nameSpace,
                            std::string_view name) = nullptr;
  /// Shows each object of the kind to `visit` until that returns false.
  void (*forEach)(const ObjectKind& kind, const Model& model,
                  const std::function<bool(const ObjectMeta&)>& visit) = nullptr;

  bool hasVersion(std::string_view version) const;
  template <typename Object>
  bool isOf() const {
    return *type == typeid(Object);
  }
};

std::span<const ObjectKind> objectKinds();
/// Returns nullptr if no reader takes the kind.
const ObjectKind* findObjectKind(std::string_view group, std::string_view kind);
/// Returns true if objects of the kind are read and have that type.
template <typename Object>
bool isKindOf(std::string_view group, std::string_view kind) {
  const ObjectKind* found = findObjectKind(group, kind);
  return found != nullptr && found->isOf<Object>();
}
/// Returns true if requests pass through objects of the kind: Gateways, routes, Backends of all spellings and Services.
/// These are what a policy can be for.
bool carriesRequests(const ObjectKind& kind);
/// Returns true if the kind is known to users of Gateway API, or of gateways beside this one, but not served.
bool isUnsupportedKind(std::string_view group, std::string_view kind);
/// Returns true if the kind is Kubernetes' own and of no concern to a gateway. Such objects may stand among the others,
/// because a folder of manifests has them: roles, network policies, workloads. They have no effect.
bool isUnconcernedKind(std::string_view group, std::string_view kind);
/// Returns the kind that a misspelt one probably meant; empty if none is close.
std::string_view closestKind(std::string_view kind);

}  // namespace sluice::config
