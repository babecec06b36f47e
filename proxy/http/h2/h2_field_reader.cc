#include "proxy/http/h2/h2_field_reader.h"

namespace sluice::http {
namespace {

// The cost of a line besides its bytes (RFC 9113 section 10.5.1).
constexpr std::size_t kSectionLineOverhead = 32;
// A section of this many times limits.headerBytes ends the connection: one-byte references to a large entry of the
// dynamic table would otherwise cost a thousand times their size in work.
constexpr std::uint64_t kHopeless = 8;
// To decode this much takes a tenth of a millisecond or less. A read of heads that are not compressed holds less.
constexpr std::uint64_t kMostOfTurn = 256 * 1024;

std::uint16_t parseStatus(std::string_view value) {
  std::uint16_t status = 0;
  for (const char c : value) status = static_cast<std::uint16_t>(status * 10 + (c - '0'));
  return status;
}

}  // namespace

void H2FieldReader::begin() {
  arena.clear();
  charge.release();
  fields = Headers();
  method = scheme = authority = path = protocol = {};
  status = 0;
  secretControl = false;
  most_ = limits_.headerBytes;
  turnBytes_ += bytes_;  // a large section is counted twice by this
  if (turnBytes_ > kMostOfTurn) light_ = 0;
  bytes_ = 0;
  lines_ = 0;
  excess_.reset();
}

void H2FieldReader::drop(Limit why) {
  if (excess_) return;
  excess_ = why;
  most_ = 0;
  fields = Headers();
  method = scheme = authority = path = protocol = {};
  arena.clear();
  charge.release();
}

H2FieldReader::Line H2FieldReader::add(const Text& name, const Text& value) {
  const bool pseudo = name.bytes.starts_with(':');
  const std::size_t size = name.bytes.size() + value.bytes.size() + kSectionLineOverhead;
  bytes_ += size;
  if (!pseudo) ++lines_;
  if (bytes_ > most_ || lines_ > limits_.headerFields) {
    drop(lines_ > limits_.headerFields ? Limit::kHeaderFields : Limit::kHeaderBytes);
    return bytes_ <= kHopeless * limits_.headerBytes ? weigh(size) : Line::kHopeless;
  }
  if (pseudo) {
    addPseudo(name, value);
  } else {
    const FieldId id = fieldId(name.bytes);
    const std::string_view kept = id == FieldId::kOther ? keep(name) : fieldName(id);
    fields.add(arena, Field{kept, keep(value), id});
  }
  if (arena.held() <= light_) return Line::kTaken;
  chargeLine();
  return weigh(size);
}

H2FieldReader::Line H2FieldReader::weigh(std::size_t bytes) {
  turnBytes_ += bytes;
  return turnBytes_ <= kMostOfTurn ? Line::kTaken : Line::kLastOfTurn;
}

void H2FieldReader::chargeLine() {
  if (const std::optional<Limit> reached = charge.reach(arena.held())) drop(*reached);
}

void H2FieldReader::hideLast() {
  if (lines_ == 0) {
    secretControl = true;
  } else if (!excess_) {
    fields.setCareOfLast(Care::kSecret);
  }
}

// nghttp2 has checked which pseudo-header fields are allowed here, that none comes twice, and that :status has three
// digits.
void H2FieldReader::addPseudo(const Text& name, const Text& value) {
  if (name.bytes == ":method") {
    method = keep(value);
  } else if (name.bytes == ":path") {
    path = keep(value);
  } else if (name.bytes == ":scheme") {
    scheme = keep(value);
  } else if (name.bytes == ":authority") {
    authority = keep(value);
  } else if (name.bytes == ":protocol") {
    protocol = keep(value);
  } else if (name.bytes == ":status") {
    status = parseStatus(value.bytes);
  }
}

}  // namespace sluice::http
