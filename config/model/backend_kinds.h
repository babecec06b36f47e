// The kinds that stand for a Backend: what may stand in a backendRef, and in which shape each wants its status.
#pragma once

#include <string_view>

#include "config/model/model.h"

namespace sluice::config {

struct BackendKind {
  std::string_view group;
  std::string_view kind;
  BackendStatusShape statusShape;
  /// A ReferenceGrant may let routes of other namespaces use it. XBackend has to be in the route's own (GEP-4894).
  bool crossesNamespaces;
};

/// nullptr if it is none.
const BackendKind* findBackendKind(std::string_view group, std::string_view kind);

}  // namespace sluice::config
