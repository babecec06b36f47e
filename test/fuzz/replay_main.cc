// Runs a fuzzer over every file of its corpus, without libFuzzer, so that faults found once stay found:
//   fuzz_replay h1_server test/fuzz/corpus/h1_server
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "test/fuzz/fuzzers.h"

namespace {

std::vector<std::filesystem::path> filesOf(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const auto* fuzzer = std::find_if(std::begin(sluice::test::kFuzzers), std::end(sluice::test::kFuzzers),
                                    [&](const auto& each) { return argc == 3 && each.name == argv[1]; });
  if (fuzzer == std::end(sluice::test::kFuzzers)) {
    std::cerr << "usage: fuzz_replay FUZZER FOLDER; the fuzzers are:\n";
    for (const auto& each : sluice::test::kFuzzers) std::cerr << "  " << each.name << '\n';
    return 2;
  }
  const auto files = filesOf(argv[2]);
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    fuzzer->run(input.data(), input.size());
  }
  std::cout << "replayed " << files.size() << " inputs\n";
  return files.empty() ? 1 : 0;
}
