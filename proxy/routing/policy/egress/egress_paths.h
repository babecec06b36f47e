// The paths of the rules of an EgressPolicy. Immutable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/table/regex.h"

namespace sluice::routing {

class EgressPaths {
 public:
  /// An error names the rule whose path no request can have, or whose expression RE2 refuses.
  static base::Result<EgressPaths> compile(const std::vector<base::EgressRule>& rules);

  /// Returns true if the path, which is in normal form and has no query, is one of the rule, which gives paths.
  bool match(std::size_t rule, std::string_view path) const;

 private:
  struct RulePath {
    base::EgressPath::Type type;
    std::string value;
    std::optional<Regex> expression;

    bool matches(std::string_view path) const;
  };

  static base::Result<RulePath> compilePath(const base::EgressPath& path, Regex::Room& room);

  std::vector<std::vector<RulePath>> rules_;  // empty if no rule gives paths
};

}  // namespace sluice::routing
