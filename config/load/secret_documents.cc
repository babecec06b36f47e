#include "config/load/secret_documents.h"

#include <algorithm>
#include <cstdint>

namespace sluice::config {
namespace {

/// Returns true for the line that begins a document. No other line may begin with "---", not even in a block scalar
/// (YAML 1.2 section 9.1.3).
bool beginsDocument(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

/// Returns false if all objects that were read between these lines are known to contain no secrets.
bool mayHoldSecret(const std::vector<ObjectReading>& readings, std::uint32_t firstLine, std::uint32_t endLine) {
  bool known = false;
  for (const ObjectReading& reading : readings) {
    const std::uint32_t line = reading.position.line;
    if (line != 0 && (line < firstLine || line >= endLine)) continue;  // line 0: the whole text is one object
    if (!reading.revision || reading.revision->covers == Covers::kRevisionByKey) return true;
    known = true;
  }
  return !known;
}

}  // namespace

PartedText partSecrets(std::string_view text, const std::vector<ObjectReading>& readings) {
  PartedText parted;
  std::uint32_t line = 1;
  std::uint32_t firstLine = 1;
  std::size_t begin = 0;
  std::size_t at = 0;
  const auto take = [&](std::size_t end) {
    (mayHoldSecret(readings, firstLine, line) ? parted.secret : parted.open) += text.substr(begin, end - begin);
  };
  for (; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at > begin && beginsDocument(text.substr(at, end - at))) {
      take(at);
      begin = at;
      firstLine = line;
    }
    at = end + 1;
  }
  take(text.size());
  return parted;
}

}  // namespace sluice::config
