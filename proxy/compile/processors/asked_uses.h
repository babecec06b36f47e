// AskedUses are the payload processors that a rule or one of its backendRefs runs. They have the question that they
// answer too, so that a later compilation can check whether the answer is still the same.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

/// Identifies the rule or backendRef that has the uses. It points into the route's object.
struct UsesQuestion {
  const std::vector<config::ProcessorFilter>* filters = nullptr;
  UsesOf of;
  /// The name of the rule, for the uses that PayloadProcessors attach. A backendRef has none, because only filters
  /// attach uses to it.
  std::optional<std::string_view> rule = std::nullopt;
};

struct FoundUses {
  CompiledUses uses;                       // uses of filters and PayloadProcessors, in their order
  std::vector<RefusedUse> refusedFilters;  // the refused uses that filters attach

  friend bool operator==(const FoundUses&, const FoundUses&) = default;
};

struct AskedUses {
  UsesQuestion question;
  FoundUses found;
};

FoundUses findUses(const ProcessorCompiler& processors, const config::ObjectMeta& route, const UsesQuestion& question);

}  // namespace sluice::compile
