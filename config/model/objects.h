// The objects of one kind in a Model, in the order in which they were read, and by name.
//
// An object in here never changes. Models before and after this one share it as long as they have the same version. So
// a change of one object copies only that object, and two equal addresses mean the same version.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/model/name_tuple_hash.h"

namespace sluice::config {

template <typename T>
class Objects {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    explicit Iterator(const std::shared_ptr<const T>* at) : at_(at) {}
    const T& operator*() const { return **at_; }
    const T* operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const std::shared_ptr<const T>* at_ = nullptr;
  };

  void add(std::shared_ptr<const T> object) {
    byName_.emplace(nameOf(*object), object.get());
    objects_.push_back(std::move(object));
  }

  Iterator begin() const { return Iterator(objects_.data()); }
  Iterator end() const { return Iterator(objects_.data() + objects_.size()); }
  const std::vector<std::shared_ptr<const T>>& shared() const { return objects_; }
  std::size_t size() const { return objects_.size(); }
  bool empty() const { return objects_.empty(); }
  const T& operator[](std::size_t index) const { return *objects_[index]; }
  const T& at(std::size_t index) const { return *objects_.at(index); }
  const T& front() const { return *objects_.front(); }

  /// Returns the object with that name for which `fits` returns true, because kinds that share a list may use a name
  /// more than once. Returns nullptr if there is none.
  template <typename Fits>
  const T* find(std::string_view nameSpace, std::string_view name, Fits&& fits) const {
    const auto [first, last] = byName_.equal_range(Name(nameSpace, name));
    for (auto each = first; each != last; ++each) {
      if (fits(*each->second)) return each->second;
    }
    return nullptr;
  }
  const T* find(std::string_view nameSpace, std::string_view name) const {
    return find(nameSpace, name, [](const T&) { return true; });
  }

 private:
  using Name = std::pair<std::string_view, std::string_view>;
  static Name nameOf(const T& object) { return {object.meta.nameSpace, object.meta.name}; }

  std::vector<std::shared_ptr<const T>> objects_;
  std::unordered_multimap<Name, const T*, NameTupleHash> byName_;  // the keys point into the objects
};

}  // namespace sluice::config
