#include "test/architecture/command.h"

#include <array>
#include <cstdio>
#include <memory>

namespace sluice::test {

std::string outputOf(const std::string& command) {
  const std::string whole = "cd '" SLUICE_SOURCE_DIR "' && " + command;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(whole.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = pipe ? fread(buffer.data(), 1, buffer.size(), pipe.get()) : 0) {
    text.append(buffer.data(), count);
  }
  return text;
}

}  // namespace sluice::test
