// Parses sizes and numbers in the notation of Kubernetes: "64Ki", "10M", "100".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::config {

/// Parses digits and at most one of the suffixes Ki, Mi, Gi (powers of 1024), k, M, G (powers of 1000). Returns nullopt
/// for anything else and for values that need more than 64 bits.
std::optional<std::uint64_t> parseQuantity(std::string_view text);

}  // namespace sluice::config
