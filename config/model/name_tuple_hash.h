// Hashes pairs and tuples of names. Sets of thousands of objects need hash tables: with trees of such names, the trees
// would take most of the time of a reload.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>

namespace sluice::config {

/// Group, kind, namespace and name of an object, as views of texts that the caller keeps.
using ObjectNameView = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

struct NameTupleHash {
  template <typename Names>
  std::size_t operator()(const Names& names) const {
    const auto combine = [](const auto&... name) {
      std::size_t hash = 0;
      ((hash = hash * 31 + std::hash<std::string_view>{}(name)), ...);
      return hash;
    };
    return std::apply(combine, names);
  }
};

}  // namespace sluice::config
