// The status codes of gRPC by their names ("Status codes and their use in gRPC").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::base {

/// In the order of their numbers, from 0 on.
inline constexpr std::array<std::string_view, 17> kGrpcStatusNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

/// Returns the number; nullopt if there is no such name.
inline std::optional<std::uint32_t> grpcStatusNamed(std::string_view name) {
  const auto found = std::find(kGrpcStatusNames.begin(), kGrpcStatusNames.end(), name);
  if (found == kGrpcStatusNames.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kGrpcStatusNames.begin());
}

}  // namespace sluice::base
