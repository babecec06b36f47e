#include "test/soak/ledger.h"

#include <cstdio>

namespace sluice::soak {
namespace {

constexpr std::uint64_t kPrintedErrors = 20;
constexpr std::size_t kPrintedBytes = 2000;

}  // namespace

void say(const SoakCourse& course, std::string_view text) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(course.elapsed()).count();
  std::printf("%5lds  %.*s\n", static_cast<long>(seconds), static_cast<int>(text.size()), text.data());
  std::fflush(stdout);
}

void Ledger::wrong(const std::string& what) {
  ++checks_;
  if (++errors_ <= kPrintedErrors) say(course_, "ERROR " + actor_ + ": " + what.substr(0, kPrintedBytes));
}

bool Ledger::expect(bool holds, const std::string& otherwise) {
  holds ? right() : wrong(otherwise);
  return holds;
}

}  // namespace sluice::soak
