// ObjectLists contain the objects of a Model. There is one list for each type, and this class does not know the types.
//
// So the table of kinds (object_kinds.h) is the only place where a kind of object is added to the Model.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string_view>
#include <typeindex>
#include <utility>

#include "config/model/objects.h"

namespace sluice::config {

/// A type for several kinds has a member kSeveralKinds. Its objects can be found by group and kind too.
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

  /// Returns all objects of a type, with all its kinds, in the order in which they were added.
  template <typename Object>
  const Objects<Object>& all() const {
    static const Objects<Object> kNone;
    const auto list = lists_.find(typeid(Object));
    return list == lists_.end() ? kNone : *std::any_cast<Objects<Object>>(&list->second);
  }
  /// Finds an object of a type with a single kind. Returns nullptr if there is none. The namespace is empty for kinds
  /// that have none.
  template <typename Object>
  requires(!OfSeveralKinds<Object>) const Object* find(std::string_view nameSpace, std::string_view name) const {
    return all<Object>().find(nameSpace, name);
  }
  /// Finds an object of a type with several kinds.
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
