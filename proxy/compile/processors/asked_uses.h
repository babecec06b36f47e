// The payload processors that a rule or one of its backendRefs runs, together with what was asked for them, so that a
// later compilation can tell whether they are still the same.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

/// Names what has the uses. It points into the route's object.
struct UsesQuestion {
  const std::vector<config::ProcessorFilter>* filters = nullptr;
  UsesOf of;
  /// The rule's name, for what PayloadProcessors attach; none for a backendRef, which has its filters alone.
  std::optional<std::string_view> rule = std::nullopt;
};

struct FoundUses {
  CompiledUses uses;                       // of filters and PayloadProcessors, in their order
  std::vector<RefusedUse> refusedFilters;  // those of them that filters attach

  friend bool operator==(const FoundUses&, const FoundUses&) = default;
};

struct AskedUses {
  UsesQuestion question;
  FoundUses found;
};

FoundUses findUses(const ProcessorCompiler& processors, const config::ObjectMeta& route, const UsesQuestion& question);

}  // namespace sluice::compile
