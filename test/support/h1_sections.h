// Reads one section of HTTP/1.x from a text, in one pass or line by line, which must come to the same.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/http/h1/h1_parser.h"

namespace sluice::test {

enum class SectionReading { kAtOnce, kByLines };

struct ReadSection {
  http::H1SectionReader::Status status = http::H1SectionReader::Status::kNeedMore;
  std::string why;
  unsigned faultStatus = 0;
  int limit = -1;
  std::size_t used = 0;
  std::size_t fieldLines = 0;
  std::string start;  // what is known of the start line
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> received;  // the names as they came

  friend bool operator==(const ReadSection&, const ReadSection&) = default;
};

/// Returns the messages of which such a section is; trailers are those of requests.
inline http::H1Messages messagesOf(http::H1Section kind) {
  return kind == http::H1Section::kResponse ? http::H1Messages::kResponses : http::H1Messages::kRequests;
}

inline void parseSection(http::H1Section kind, http::H1Messages messages, std::span<char> bytes,
                         const http::H1LineEnds& ends, base::Arena& arena, ReadSection& read) {
  http::Headers fields;
  const char* why = nullptr;
  if (kind == http::H1Section::kRequest) {
    http::RawRequest raw;
    const http::H1Fault fault = parseRequestHead(bytes, ends, read.fieldLines, arena, raw);
    why = fault.why;
    if (fault) read.faultStatus = fault.status;
    read.start =
        std::string(raw.method) + " " + std::string(raw.target) + std::to_string(static_cast<int>(raw.version));
    fields = raw.fields;
  } else if (kind == http::H1Section::kResponse) {
    http::RawResponse raw;
    why = parseResponseHead(bytes, ends, read.fieldLines, arena, raw);
    read.start = std::to_string(raw.status) + " " + std::to_string(static_cast<int>(raw.version));
    fields = raw.fields;
  } else {
    why = parseTrailers(bytes, ends, read.fieldLines, arena, messages, fields);
  }
  if (why != nullptr) read.why = why;
  for (const http::Field& field : fields) {
    read.fields.emplace_back(field.name, field.value);
    read.received.emplace_back(field.receivedName());
  }
}

/// `text` is copied, so that AddressSanitizer sees each byte that is read behind it.
inline ReadSection readSection(http::H1Section kind, std::string_view text, const http::MessageBounds& bounds,
                               SectionReading reading, http::H1Messages messages) {
  const std::vector<char> copy(text.begin(), text.end());
  const std::string_view bytes{copy.data(), copy.size()};
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::H1SectionReader reader(pool, bounds, messages);
  reader.begin(kind);
  ReadSection read;
  http::H1LineEnds ends;
  const bool atOnce = reading == SectionReading::kAtOnce;
  read.status = atOnce ? reader.scan(bytes, read.used, ends) : reader.scanLines(bytes, read.used);
  if (read.status == http::H1SectionReader::Status::kFailed) {
    read.used = 0;
    read.why = reader.fault().why;
    read.faultStatus = reader.fault().status;
    if (reader.fault().limit) read.limit = static_cast<int>(*reader.fault().limit);
  }
  if (read.status != http::H1SectionReader::Status::kComplete) return read;
  read.fieldLines = reader.fieldLines();
  const std::span<char> section = reader.collect(arena, bytes.substr(0, read.used), ends);
  if (!atOnce) ends.clear();
  parseSection(kind, messages, section, ends, arena, read);
  return read;
}
inline ReadSection readSection(http::H1Section kind, std::string_view text, const http::MessageBounds& bounds,
                               SectionReading reading) {
  return readSection(kind, text, bounds, reading, messagesOf(kind));
}

}  // namespace sluice::test
