#include "proxy/http/h1/h1_parser.h"

#include <cstring>
#include <utility>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

// A field line has the size name + value + 32; on the wire it is name + ": " + value.
constexpr std::size_t kFieldLineOverhead = 32 - 2;

// Finds a CR that is not followed by LF. A CR at the very end may still get its LF.
bool holdsBareCr(std::string_view bytes) {
  for (std::size_t at = bytes.find('\r'); at != std::string_view::npos; at = bytes.find('\r', at + 1)) {
    if (at + 1 < bytes.size() && bytes[at + 1] != '\n') return true;
  }
  return false;
}

}  // namespace

void H1SectionReader::begin(H1Section section) {
  kept_.clear();
  fault_ = {};
  lineBytes_ = sectionBytes_ = lines_ = leading_ = 0;
  section_ = section;
  skippedEmptyLine_ = endsInCr_ = false;
}

// Each line of a head is counted, so these two are inline.
inline bool H1SectionReader::withinLimits(std::size_t openLineSize, std::string_view piece) {
  if (atRequestLine()) return openLineSize <= limits_.requestLineBytes || failRequestLine(piece);
  if (openLineSize == 0 || sectionBytes_ + openLineSize + kFieldLineOverhead <= limits_.headerBytes) return true;
  fail("the fields are too large", 431, Limit::kHeaderBytes);
  return false;
}

inline bool H1SectionReader::countLine(std::size_t size, std::string_view piece) {
  if (!withinLimits(size, piece)) return false;
  if (!atRequestLine()) sectionBytes_ += static_cast<std::uint32_t>(size + kFieldLineOverhead);
  ++lines_;
  if (fieldLines() <= mostFields()) return true;
  const bool ofRequest = messages_ == H1Messages::kRequests;
  fail("too many fields", 431, ofRequest ? Limit::kHeaderFields : Limit::kResponseFields);
  return false;
}

H1SectionReader::Status H1SectionReader::scan(std::string_view bytes, std::size_t& used, H1LineEnds& ends) {
  if (!pending() && ends.find(bytes)) {
    used = ends.sectionSize();
    if (isTokenChar(bytes.front()) && countWhole(ends)) return Status::kComplete;
  }
  ends.clear();
  return scanLines(bytes, used);
}

bool H1SectionReader::countWhole(const H1LineEnds& ends) {
  const bool isRequest = section_ == H1Section::kRequest;
  if (isRequest && ends[0] > limits_.requestLineBytes) return false;
  // Neither the request line, nor the ends of lines, nor the empty line count.
  const std::size_t lines = ends.count() - (isRequest ? 1 : 0);
  const std::size_t text = ends.sectionSize() - 2 * (lines + 1) - (isRequest ? ends[0] + 2 : 0);
  if (text + lines * kFieldLineOverhead > limits_.headerBytes) return false;
  if (ends.count() - (section_ == H1Section::kTrailers ? 0 : 1) > mostFields()) return false;
  lines_ = static_cast<std::uint32_t>(ends.count());
  return true;
}

H1SectionReader::Status H1SectionReader::scanLines(std::string_view bytes, std::size_t& used) {
  if (bytes.empty()) return Status::kNeedMore;
  const char first = bytes.front();
  if (endsInCr_ && first != '\n') return fail("a bare CR");
  // TLS and noise are recognised before the end of the line.
  if (lines_ == 0 && lineBytes_ == 0 && !isTokenChar(first) && first != '\r' && first != '\n') return failStart(first);
  std::size_t start = 0;
  while (true) {
    const std::size_t lineFeed = bytes.find('\n', start);
    if (lineFeed == std::string_view::npos) return keep(bytes, bytes.substr(start));
    const std::size_t size = lineBytes_ + (lineFeed - start);
    const bool hasCr = lineFeed > start ? bytes[lineFeed - 1] == '\r' : lineBytes_ > 0 && endsInCr_;
    lineBytes_ = 0;
    if (!hasCr) return fail("a bare LF");
    start = lineFeed + 1;
    if (size > 1) {
      if (!countLine(size - 1, bytes)) return Status::kFailed;
    } else if (lines_ > 0 || section_ == H1Section::kTrailers) {
      used = start;
      return Status::kComplete;
    } else {
      if (section_ != H1Section::kRequest || skippedEmptyLine_) return fail("an empty line where a start line must be");
      skippedEmptyLine_ = true;
      kept_.clear();
      leading_ = static_cast<std::uint32_t>(start);
    }
  }
}

// The first byte of TLS is the type of its first record, which is that of a handshake (RFC 8446 section 5.1).
H1SectionReader::Status H1SectionReader::failStart(char first) {
  constexpr char kTlsHandshake = 0x16;
  if (section_ != H1Section::kRequest || first != kTlsHandshake) return fail("not HTTP");
  return fail("this port speaks plain HTTP; use http:// or a listener with TLS");
}

std::span<char> H1SectionReader::collect(base::Arena& arena, std::string_view lastPiece, H1LineEnds& ends) {
  lastPiece.remove_prefix(leading_);
  const std::size_t size = kept_.size() + lastPiece.size();
  char* const text = arena.bytes(size + H1Lines::roomBehind(size, fieldLines()));
  char* end = text;
  while (!kept_.empty()) {
    const std::string_view run = kept_.front();
    end = static_cast<char*>(std::memcpy(end, run.data(), run.size())) + run.size();
    kept_.consume(run.size());
  }
  std::memcpy(end, lastPiece.data(), lastPiece.size());
  endsInCr_ = false;
  if (!ends.known()) ends.find({text, size});
  return {text, size};
}

H1SectionReader::Status H1SectionReader::keep(std::string_view bytes, std::string_view openLine) {
  // No byte is kept of an empty line that is skipped: an idle connection may send nothing else.
  bytes.remove_prefix(std::exchange(leading_, 0));
  if (holdsBareCr(bytes)) return fail("a bare CR");
  endsInCr_ = !bytes.empty() && bytes.back() == '\r';
  const std::size_t size = lineBytes_ + openLine.size();
  if (!withinLimits(size - (endsInCr_ ? 1 : 0), bytes)) return Status::kFailed;
  lineBytes_ = static_cast<std::uint32_t>(size);
  kept_.append(bytes);
  return Status::kNeedMore;
}

// RFC 9112 section 3: a line that is too long for its target is 414, and a method longer than any that is known is 501.
bool H1SectionReader::failRequestLine(std::string_view piece) {
  std::size_t methodBytes = 0;
  bool methodEnds = false;
  const auto look = [&](std::string_view run) {
    const std::size_t space = run.find(' ');
    methodEnds = space != std::string_view::npos;
    methodBytes += methodEnds ? space : run.size();
  };
  while (!methodEnds && !kept_.empty()) {
    look(kept_.front());
    kept_.consume(kept_.front().size());
  }
  if (!methodEnds) look(piece);
  if (methodEnds && methodBytes <= limits_.requestLineBytes) {
    fail("the request line is too long", 414, Limit::kRequestLineBytes);
  } else {
    fail("the method is too long", 501, Limit::kRequestLineBytes);
  }
  return false;
}

H1SectionReader::Status H1SectionReader::fail(const char* why, std::uint16_t status, std::optional<Limit> limit) {
  kept_.clear();
  fault_ = {why, status, limit};
  return Status::kFailed;
}

namespace {

constexpr std::string_view kMajorVersion = "HTTP/1.";
constexpr std::size_t kVersionSize = kMajorVersion.size() + 1;

bool readVersion(std::string_view text, Version& version) {
  if (text.size() != kVersionSize || !text.starts_with(kMajorVersion) || !isDigit(text.back())) return false;
  version = text.back() == '0' ? Version::kHttp10 : Version::kHttp11;
  return true;
}

bool isOtherMajorVersion(std::string_view text) {
  return text.size() == kVersionSize && text.starts_with("HTTP/") && isDigit(text[5]) && text[6] == '.' &&
         isDigit(text[7]);
}

}  // namespace

H1Fault parseRequestHead(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines, base::Arena& arena,
                         RawRequest& request) {
  H1Lines lines(section, ends, H1Messages::kRequests);
  std::span<char> first;
  if (!lines.next(first)) return {"a bare CR"};
  const std::string_view line{first.data(), first.size()};
  const std::size_t methodEnd = line.find(' ');
  const std::size_t targetEnd = line.ends_with(" HTTP/1.1") ? line.size() - kVersionSize - 1 : line.rfind(' ');
  if (methodEnd == std::string_view::npos || methodEnd == targetEnd)
    return {"the request line is not `method target version`"};
  request.method = line.substr(0, methodEnd);
  request.target = line.substr(methodEnd + 1, targetEnd - methodEnd - 1);
  const std::string_view version = line.substr(targetEnd + 1);
  if (!readVersion(version, request.version)) {
    if (isOtherMajorVersion(version)) return {"the major version is not HTTP/1", 505};
    return {"the version is not HTTP/1.1 or HTTP/1.0"};
  }
  return {lines.readFields(fieldLines, arena, request.fields)};
}

const char* parseResponseHead(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines,
                              base::Arena& arena, RawResponse& response) {
  constexpr std::size_t kStatusEnd = kVersionSize + 4;
  H1Lines lines(section, ends, H1Messages::kResponses);
  std::span<char> first;
  if (!lines.next(first)) return "a bare CR";
  const std::string_view line{first.data(), first.size()};
  if (line.size() < kStatusEnd || line[kVersionSize] != ' ') return "the status line is not `version status reason`";
  if (!readVersion(line.substr(0, kVersionSize), response.version)) return "the version is not HTTP/1.1 or HTTP/1.0";
  for (const char c : line.substr(kVersionSize + 1, 3)) {
    if (!isDigit(c)) return "the status is not three digits";
    response.status = static_cast<std::uint16_t>(response.status * 10 + (c - '0'));
  }
  // A missing space before an empty reason is accepted, because it is frequent and harmless. A line whose end is known
  // holds no control characters.
  const std::string_view reason = line.substr(kStatusEnd);
  const bool clean = ends.known() || isFieldValue(trimSpace(reason));
  if (!reason.empty() && (reason.front() != ' ' || !clean)) return "the reason is malformed";
  return lines.readFields(fieldLines, arena, response.fields);
}

const char* parseTrailers(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines, base::Arena& arena,
                          H1Messages messages, Headers& fields) {
  return H1Lines(section, ends, messages).readFields(fieldLines, arena, fields);
}

}  // namespace sluice::http
