// json_scan FILE...: scans each text for "/model" in pieces of 16 KiB, the size in which bodies arrive, again and
// again, and prints the nanoseconds per byte in the fastest of the rounds, for perf/processors.py.
#include "proxy/content/json_scan.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

using sluice::content::JsonScan;
using sluice::content::JsonStep;

constexpr std::size_t kPiece = 16 * 1024;
constexpr int kRounds = 30;

void scan(std::string_view text, const JsonStep& model) {
  JsonScan reading({&model, 1}, 256);
  bool good = true;
  for (std::size_t at = 0; at < text.size(); at += kPiece) good = good && reading.feed(text.substr(at, kPiece));
  if (!good || !reading.end() || reading.found() == nullptr) std::exit(1);
}

double nanosecondsPerByte(std::string_view text) {
  const JsonStep model{"model", {}};
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t bytes = 0;
    while (bytes < (std::size_t{1} << 20)) {
      scan(text, model);
      bytes += text.size();
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    least = std::min(least, taken.count() / static_cast<double>(bytes));
  }
  return least;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.empty()) return 1;
    std::printf("%.4f\n", nanosecondsPerByte(text));
  }
  return 0;
}
