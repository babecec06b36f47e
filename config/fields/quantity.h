// Sizes and counts as Kubernetes writes them: "64Ki", "10M", "100".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::config {

/// Parses digits and at most one of Ki, Mi, Gi (1024), k, M, G (1000). Returns nullopt for anything else and for values
/// above 64 bits.
std::optional<std::uint64_t> parseQuantity(std::string_view text);

}  // namespace sluice::config
