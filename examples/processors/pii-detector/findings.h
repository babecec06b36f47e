// Finds personal data in text: card numbers, IBANs, e-mail addresses and phone numbers.
//
// A stand-in for a model: it knows the forms of these data and their checksums, and how sure each makes it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pii {

/// The longest text that is found as one. A finding depends on no byte behind that many.
inline constexpr std::size_t kLongest = 320;

struct Finding {
  std::string_view kind;  // "card", "iban", "email" or "phone"
  std::size_t size;
  double confidence;  // 0 to 1
};

/// Returns what begins at the front of `text`, if anything does. `before` is the byte in front of it.
std::optional<Finding> findAtFront(std::string_view text, char before);

}  // namespace pii
