// The config of a use of acme.example.com/PIIDetector:v1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pii {

enum class Style { kMask, kDelete, kHash };

struct Settings {
  std::string modelRef;
  Style style = Style::kMask;
  double threshold = 0.5;
  std::uint64_t mostBytes = 0;  // 0: any number
};

/// Reads the config, a flat map in JSON that satisfies the schema of the type. Returns the reason if it cannot.
std::string readSettings(std::string_view json, Settings& settings);

}  // namespace pii
