#include "config/fields/quantity.h"

#include <charconv>
#include <limits>

namespace sluice::config {
namespace {

std::optional<std::uint64_t> factorOf(std::string_view suffix) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::uint64_t kKilo = 1000;
  if (suffix.empty()) return 1;
  if (suffix == "Ki") return kKibi;
  if (suffix == "Mi") return kKibi * kKibi;
  if (suffix == "Gi") return kKibi * kKibi * kKibi;
  if (suffix == "k") return kKilo;
  if (suffix == "M") return kKilo * kKilo;
  if (suffix == "G") return kKilo * kKilo * kKilo;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parseQuantity(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, number);
  const std::optional<std::uint64_t> factor = factorOf(text.substr(static_cast<std::size_t>(used - text.data())));
  if (error != std::errc() || !factor) return std::nullopt;
  if (number > std::numeric_limits<std::uint64_t>::max() / *factor) return std::nullopt;
  return number * *factor;
}

}  // namespace sluice::config
