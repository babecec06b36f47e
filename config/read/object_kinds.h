// The table of kinds. It has one line for each kind, with everything that the configuration needs to know about it.
// Code for reading, finding by name, the last good version, revisions and the shape of statuses uses this table and
// does not name any kind.
//
// So a new kind needs a type for its objects with a member `meta`, a reader, and a line here. Its statuses need a line
// in the control plane's own tables, for the same type: proxy/compile/status/status_table.h, or, for policies,
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
  /// True if a ReferenceGrant can permit references from other namespaces. An XBackend must be in the route's own
  /// namespace (GEP-4894).
  bool crossesNamespaces = true;
};

struct ObjectKind : KindTraits {
  std::string_view group;  // empty for the core group
  std::string_view kind;
  std::span<const std::string_view> versions;
  /// The type of its objects, which decides their list in the Model. Several kinds may share one type.
  const std::type_info* type = nullptr;
  /// Reads and finishes `root`. If the schema refuses it, returns nullptr and stores the readable part in `rejected`.
  std::shared_ptr<const void> (*read)(FieldReader& root, ObjectMeta meta, Rejected& rejected) = nullptr;
  /// Puts an object made by `read` into its list.
  void (*put)(const std::shared_ptr<const void>& object, Model& model) = nullptr;
  /// Puts the version of the `refused` object in `previous` into `model`. Returns false if there is none.
  bool (*keep)(const Rejected& refused, const Model& previous, Model& model) = nullptr;

  /// Returns the object of the kind with that name; nullptr if there is none.
  const ObjectMeta* (*find)(const ObjectKind& kind, const Model& model, std::string_view nameSpace,
                            std::string_view name) = nullptr;
  /// Calls `visit` with each object of the kind until it returns false.
  void (*forEach)(const ObjectKind& kind, const Model& model,
                  const std::function<bool(const ObjectMeta&)>& visit) = nullptr;

  bool hasVersion(std::string_view version) const;
  template <typename Object>
  bool isOf() const {
    return *type == typeid(Object);
  }
};

std::span<const ObjectKind> objectKinds();
/// Returns nullptr if there is no reader for the kind.
const ObjectKind* findObjectKind(std::string_view group, std::string_view kind);
/// Returns true if there is a reader for the kind and its objects have that type.
template <typename Object>
bool isKindOf(std::string_view group, std::string_view kind) {
  const ObjectKind* found = findObjectKind(group, kind);
  return found != nullptr && found->isOf<Object>();
}
/// Returns true if requests pass through objects of the kind: Gateways, routes, Backends of all spellings and Services.
/// These kinds are the possible targets of policies.
bool carriesRequests(const ObjectKind& kind);
/// Returns true if the kind belongs to Gateway API or to other gateways and is not supported here.
bool isUnsupportedKind(std::string_view group, std::string_view kind);
/// Returns true if the kind belongs to Kubernetes itself and does not concern a gateway, such as roles, network
/// policies and workloads. Folders of manifests contain such objects, and they have no effect.
bool isUnconcernedKind(std::string_view group, std::string_view kind);
/// Returns the kind that a misspelt one was probably meant to be; empty if none is close.
std::string_view closestKind(std::string_view kind);

}  // namespace sluice::config
