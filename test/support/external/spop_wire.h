// The values of SPOP, HAProxy's protocol to agents outside of it (its doc/SPOE.txt, version 2.0): integers of variable
// length, texts, and typed data. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::external {

/// Reads values one after the other. Once one of them is not whole, nothing more can be read.
class SpopReader {
 public:
  explicit SpopReader(std::string_view bytes) : rest_(bytes) {}

  bool isEmpty() const { return rest_.empty(); }
  std::optional<std::uint8_t> byte();
  std::optional<std::uint32_t> fixed32();
  std::optional<std::uint64_t> integer();
  /// Returns a text with its length before it.
  std::optional<std::string_view> text();
  /// Returns typed data: numbers and booleans as digits, texts as they are, addresses as their bytes; null is empty.
  std::optional<std::string> data();

 private:
  std::optional<std::string_view> take(std::size_t count);

  std::string_view rest_;
};

void appendSpopInteger(std::string& to, std::uint64_t value);
void appendSpopText(std::string& to, std::string_view text);
/// Appends typed data: a text.
void appendSpopString(std::string& to, std::string_view text);
/// Appends typed data: an unsigned number of 32 bits.
void appendSpopNumber(std::string& to, std::uint32_t number);

}  // namespace sluice::external
