// BackendUses keep the resolved backendRefs of the last compilation. Routes of one namespace that write the same
// reference share its resolution, so that thousands of routes need only a few resolutions.
//
// They belong to the loading thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "config/model/model.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {

class BackendUses {
 public:
  /// Resolves a reference of the route `holder`.
  std::shared_ptr<const BackendUse> resolve(const BackendCatalog& backends, const config::BackendObjectReference& ref,
                                            const Holder& holder);
  /// Returns true if the reference of an earlier use would be resolved to the same result now. `holder` is a route that
  /// has the reference.
  bool hold(const BackendCatalog& backends, const std::shared_ptr<const BackendUse>& use, const Holder& holder);
  /// Ends a compilation: drops the uses that no route refers to any more.
  void sweep();

 private:
  /// The reference with its field, which messages name, and the kind and namespace of the object that has it.
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::uint16_t,
                         std::string_view, std::string>;

  std::map<Key, std::shared_ptr<const BackendUse>> uses_;
  std::unordered_map<const BackendUse*, bool>
      held_;  // whether each use that this compilation has checked is still valid
};

}  // namespace sluice::compile
