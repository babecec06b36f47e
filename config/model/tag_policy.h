// A TagPolicy: fields that the gateway sets in responses. Plain values; see model.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"

namespace sluice::config {

struct TagPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "TagPolicy";

  ObjectMeta meta;
  std::optional<std::string> team;  // the value of x-team
  std::optional<std::string> cost;  // the value of x-cost
  std::vector<UnsupportedField> unsupported;
};

}  // namespace sluice::config
