#include "proxy/routing/table/regex.h"

#include <re2/re2.h>

#include <cstdint>
#include <string>
#include <utility>

#include "proxy/content/pattern_fault.h"

namespace sluice::routing {

namespace {

// RE2 divides it between the program, for which it suffices, and the states that it caches while it matches.
constexpr std::int64_t kMostMemory = 256 * 1024;

base::Error tooLarge(Regex::Room& room) {
  room.left = 0;
  return base::Error::config("the regular expressions of one route are too large: together they may have " +
                             std::to_string(Regex::kMostInstructions) + " instructions of RE2");
}

}  // namespace

base::Result<Regex> Regex::compile(std::string_view pattern, Room& room) {
  if (room.left == 0) return tooLarge(room);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_max_mem(kMostMemory);
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    if (compiled->error_code() == re2::RE2::ErrorPatternTooLarge) return tooLarge(room);
    return base::Error::config("not a regular expression: " + content::patternFault(*compiled));
  }
  const auto size = static_cast<std::size_t>(compiled->ProgramSize());
  if (size > room.left) return tooLarge(room);
  room.left -= size;
  return Regex(std::move(compiled));
}

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

bool Regex::matches(std::string_view text) const {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace sluice::routing
