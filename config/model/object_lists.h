// ObjectLists hold the objects of a Model. There is a list for each type, and the types need not be known here.
//
// So the table of kinds (object_kinds.h) is the only place where a kind of objects is added to the Model.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string_view>
#include <typeindex>
#include <utility>

#include "config/model/objects.h"

namespace sluice::config {

/// A type used for several kinds has a member kSeveralKinds. Its objects are found by group and kind too.
template <typename Object>
concept OfSeveralKinds = requires {
  Object::kSeveralKinds;
};

class ObjectLists {
 public:
  template <typename Object>
  void add(std::shared_ptr<const Object> object) {
    std::any& list = lists_[typeid(Object)];
    if (!list.has_value()) list = Objects<Object>();
    std::any_cast<Objects<Object>>(&list)->add(std::move(object));
  }

  /// Returns all objects of a type, of all its kinds, in the order in which they were added.
  template <typename Object>
  const Objects<Object>& all() const {
    static const Objects<Object> kNone;
    const auto list = lists_.find(typeid(Object));
    return list == lists_.end() ? kNone : *std::any_cast<Objects<Object>>(&list->second);
  }
  /// Finds an object of a type that has one kind. Returns nullptr if there is none. The namespace is empty for kinds
  /// that have none.
  template <typename Object>
  requires(!OfSeveralKinds<Object>) const Object* find(std::string_view nameSpace, std::string_view name) const {
    return all<Object>().find(nameSpace, name);
  }
  /// Finds an object of a type that has several kinds.
  template <typename Object>
  const Object* find(std::string_view group, std::string_view kind, std::string_view nameSpace,
                     std::string_view name) const {
    return all<Object>().find(
        nameSpace, name, [&](const Object& object) { return object.meta.kind == kind && object.meta.group == group; });
  }

 private:
  std::map<std::type_index, std::any> lists_;
};

}  // namespace sluice::config
