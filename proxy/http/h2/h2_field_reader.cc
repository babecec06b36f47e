#include "proxy/http/h2/h2_field_reader.h"

#include <array>
#include <utility>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

// The cost of a line besides its bytes (RFC 9113 section 10.5.1).
constexpr std::size_t kSectionLineOverhead = 32;
// A section of this many times limits.headerBytes ends the connection: one-byte references to a large entry of the
// dynamic table would otherwise cost a thousand times their size in work.
constexpr std::uint64_t kHopeless = 8;
// To decode this much takes a tenth of a millisecond or less. A read of heads that are not compressed holds less.
constexpr std::uint64_t kMostOfTurn = 256 * 1024;

// Returns 0 for a text that is not of three digits.
std::uint16_t parseStatus(std::string_view value) {
  std::uint16_t status = 0;
  for (const char c : value) {
    if (!isDigit(c) || value.size() != 3) return 0;
    status = static_cast<std::uint16_t>(status * 10 + (c - '0'));
  }
  return status;
}

}  // namespace

void H2FieldReader::begin(Section section) {
  constexpr auto bit = [](Pseudo pseudo) { return 1U << static_cast<unsigned>(pseudo); };
  constexpr unsigned kOfRequest = bit(Pseudo::kMethod) | bit(Pseudo::kScheme) | bit(Pseudo::kAuthority) |
                                  bit(Pseudo::kPath) | bit(Pseudo::kProtocol);
  constexpr std::array<unsigned, 3> kAllowed = {kOfRequest, bit(Pseudo::kStatus), 0};
  forget();
  allowed_ = kAllowed[static_cast<std::size_t>(section)];
}

void H2FieldReader::forget() {
  arena.clear();
  charge.release();
  fields = Headers();
  method = scheme = authority = path = protocol = priority = {};
  status = 0;
  misusesPseudo_ = false;
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
  method = scheme = authority = path = protocol = priority = {};
  arena.clear();
  charge.release();
}

H2FieldReader::Line H2FieldReader::add(std::string_view name, std::string_view value) {
  const bool pseudo = name.starts_with(':');
  const std::size_t size = name.size() + value.size() + kSectionLineOverhead;
  bytes_ += size;
  if (!pseudo) ++lines_;
  if (bytes_ > most_ || lines_ > mostLines_) {
    drop(lines_ > mostLines_ ? excessOfLines_ : Limit::kHeaderBytes);
    return bytes_ <= kHopeless * limits_.headerBytes ? weigh(size) : Line::kHopeless;
  }
  if (pseudo) {
    addPseudo(name, value);
  } else {
    const FieldId id = fieldId(name);
    const std::string_view kept = id == FieldId::kOther ? arena.copy(name) : fieldName(id);
    const Field field{kept, arena.copy(value), id};
    if (id == FieldId::kPriority) priority = field.value;
    fields.add(arena, field);
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

H2FieldReader::Pseudo H2FieldReader::pseudoOf(std::string_view name) {
  if (name == ":method") return Pseudo::kMethod;
  if (name == ":path") return Pseudo::kPath;
  if (name == ":scheme") return Pseudo::kScheme;
  if (name == ":authority") return Pseudo::kAuthority;
  if (name == ":status") return Pseudo::kStatus;
  if (name == ":protocol") return Pseudo::kProtocol;
  return Pseudo::kUnknown;
}

bool H2FieldReader::mayHave(Pseudo pseudo) {
  const unsigned bit = 1U << static_cast<unsigned>(pseudo);
  return (std::exchange(allowed_, allowed_ & ~bit) & bit) != 0;
}

// A pseudo-header field without a value is malformed, so an empty member means that the field is missing. No section
// may have an unknown one.
void H2FieldReader::addPseudo(std::string_view name, std::string_view value) {
  const Pseudo pseudo = pseudoOf(name);
  if (!mayHave(pseudo) || lines_ > 0 || value.empty()) {
    misusesPseudo_ = true;
    return;
  }
  if (pseudo == Pseudo::kStatus) {
    status = parseStatus(value);
    return;
  }
  // In the order of Pseudo.
  constexpr std::array<std::string_view H2FieldReader::*, 5> kTexts = {&H2FieldReader::method, &H2FieldReader::scheme,
                                                                       &H2FieldReader::authority, &H2FieldReader::path,
                                                                       &H2FieldReader::protocol};
  this->*kTexts[static_cast<std::size_t>(pseudo)] = arena.copy(value);
}

}  // namespace sluice::http
