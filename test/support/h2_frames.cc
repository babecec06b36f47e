#include "test/support/h2_frames.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

namespace sluice::test {
namespace {

constexpr std::size_t kFrameHead = 9;

std::string word(std::uint32_t value, std::size_t bytes = 4) {
  std::string text;
  for (std::size_t i = bytes; i > 0; --i) text += static_cast<char>(value >> (8 * (i - 1)) & 0xff);
  return text;
}

std::uint32_t wordAt(std::string_view bytes, std::size_t at, std::size_t count = 4) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + count && i < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// RFC 7541 section 5.1 gives the format.
std::string integer(std::size_t value, std::uint8_t prefixBits, std::uint8_t pattern) {
  const std::size_t limit = (std::size_t{1} << prefixBits) - 1;
  if (value < limit) return {static_cast<char>(pattern | value)};
  std::string text{static_cast<char>(pattern | limit)};
  for (value -= limit; value >= 128; value /= 128) text += static_cast<char>(value % 128 + 128);
  return text += static_cast<char>(value);
}

std::string literal(std::string_view text) { return integer(text.size(), 7, 0).append(text); }

}  // namespace

namespace h2 {

std::string_view preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"; }

std::string frame(H2Type type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string text = word(static_cast<std::uint32_t>(payload.size()), 3);
  text += static_cast<char>(type);
  text += static_cast<char>(flags);
  return text.append(word(stream)).append(payload);
}

std::string line(std::string_view name, std::string_view value) {
  return std::string(1, '\0').append(literal(name)).append(literal(value));
}

std::string indexedLine(std::string_view name, std::string_view value) {
  return std::string(1, '\x40').append(literal(name)).append(literal(value));
}

std::string secretLine(std::string_view name, std::string_view value) {
  return std::string(1, '\x10').append(literal(name)).append(literal(value));
}

std::string reference(std::uint8_t index) { return {static_cast<char>(0x80 | index)}; }

std::string block(const H2Lines& lines) {
  std::string text;
  for (const auto& [name, value] : lines) text += line(name, value);
  return text;
}

std::string headers(std::uint32_t stream, std::string_view block, bool endStream, bool endHeaders) {
  const int flags = (endStream ? h2flag::kEndStream : 0) | (endHeaders ? h2flag::kEndHeaders : 0);
  return frame(H2Type::kHeaders, static_cast<std::uint8_t>(flags), stream, block);
}

std::string headers(std::uint32_t stream, const H2Lines& lines, bool endStream) {
  return headers(stream, block(lines), endStream);
}

std::string continuation(std::uint32_t stream, std::string_view block, bool endHeaders) {
  return frame(H2Type::kContinuation, endHeaders ? h2flag::kEndHeaders : h2flag::kNone, stream, block);
}

std::string data(std::uint32_t stream, std::string_view bytes, bool endStream) {
  return frame(H2Type::kData, endStream ? h2flag::kEndStream : h2flag::kNone, stream, bytes);
}

std::string rstStream(std::uint32_t stream, std::uint32_t code) {
  return frame(H2Type::kRstStream, h2flag::kNone, stream, word(code));
}

std::string settings(const std::vector<std::pair<std::uint16_t, std::uint32_t>>& entries) {
  std::string payload;
  for (const auto& [id, value] : entries) payload += word(id, 2) + word(value);
  return frame(H2Type::kSettings, h2flag::kNone, 0, payload);
}

std::string settingsAck() { return frame(H2Type::kSettings, h2flag::kAck, 0, {}); }

std::string ping(bool ack) { return frame(H2Type::kPing, ack ? h2flag::kAck : h2flag::kNone, 0, std::string(8, '\0')); }

std::string goaway(std::uint32_t lastStream, std::uint32_t code) {
  return frame(H2Type::kGoaway, h2flag::kNone, 0, word(lastStream) + word(code));
}

std::string windowUpdate(std::uint32_t stream, std::uint32_t increment) {
  return frame(H2Type::kWindowUpdate, h2flag::kNone, stream, word(increment));
}

std::string priority(std::uint32_t stream, std::uint32_t dependsOn) {
  return frame(H2Type::kPriority, h2flag::kNone, stream, word(dependsOn) + '\x10');
}

std::string clientHello() { return std::string(preface()) + settings({}); }

H2Lines get(std::string_view path, std::string_view scheme) {
  return {{":method", "GET"},
          {":scheme", std::string(scheme)},
          {":path", std::string(path)},
          {":authority", "example.com"}};
}

H2Lines post(std::string_view path, std::string_view scheme) {
  H2Lines lines = get(path, scheme);
  lines.front().second = "POST";
  return lines;
}

}  // namespace h2

std::uint32_t H2Frame::errorCode() const { return wordAt(payload, type == H2Type::kGoaway ? 4 : 0); }

std::uint32_t H2Frame::firstWord() const { return wordAt(payload, 0); }

std::optional<std::uint32_t> H2Frame::setting(std::uint16_t id) const {
  constexpr std::size_t kEntry = 6;
  std::optional<std::uint32_t> value;
  for (std::size_t at = 0; at + kEntry <= payload.size(); at += kEntry) {
    if (wordAt(payload, at, 2) == id) value = wordAt(payload, at + 2);
  }
  return value;
}

std::string H2Frame::value(std::string_view name) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [name](const auto& line) { return line.first == name; });
  return found == lines.end() ? std::string() : found->second;
}

H2FrameReader::H2FrameReader() { nghttp2_hd_inflate_new(&inflater_); }

H2FrameReader::~H2FrameReader() { nghttp2_hd_inflate_del(inflater_); }

void H2FrameReader::feed(std::string_view bytes) {
  bytes_ += bytes;
  if (!begun_) {
    const std::string_view preface = h2::preface();
    const bool undecided = bytes_.size() < preface.size() && preface.starts_with(bytes_);
    if (undecided) return;
    begun_ = true;
    if (bytes_.starts_with(preface)) bytes_.erase(0, preface.size());
  }
  while (bytes_.size() >= kFrameHead) {
    const std::size_t length = wordAt(bytes_, 0, 3);
    if (bytes_.size() < kFrameHead + length) return;
    H2Frame frame;
    frame.type = static_cast<H2Type>(bytes_[3]);
    frame.flags = static_cast<std::uint8_t>(bytes_[4]);
    frame.stream = wordAt(bytes_, 5);
    frame.payload = bytes_.substr(kFrameHead, length);
    bytes_.erase(0, kFrameHead + length);
    take(std::move(frame));
  }
}

void H2FrameReader::take(H2Frame&& frame) {
  if (frame.type == H2Type::kHeaders || frame.type == H2Type::kContinuation) {
    block_ += frame.payload;
    if ((frame.flags & h2flag::kEndHeaders) != 0) inflate(frame);
  }
  frames_.push_back(std::move(frame));
}

void H2FrameReader::inflate(H2Frame& frame) {
  const auto* in = reinterpret_cast<const std::uint8_t*>(block_.data());
  std::size_t left = block_.size();
  for (;;) {
    nghttp2_nv line;
    int flags = 0;
    const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &line, &flags, in, left, 1);
    if (used < 0) {
      sound_ = false;
      break;
    }
    in += used;
    left -= static_cast<std::size_t>(used);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      frame.lines.emplace_back(std::string(reinterpret_cast<const char*>(line.name), line.namelen),
                               std::string(reinterpret_cast<const char*>(line.value), line.valuelen));
      if ((line.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0) frame.secrets.push_back(frame.lines.back().first);
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_);
  block_.clear();
}

const H2Frame* H2FrameReader::find(H2Type type, std::uint32_t stream) const {
  const auto found = std::find_if(frames_.begin(), frames_.end(), [type, stream](const H2Frame& frame) {
    return frame.type == type && frame.stream == stream;
  });
  return found == frames_.end() ? nullptr : &*found;
}

std::size_t H2FrameReader::count(H2Type type) const {
  return static_cast<std::size_t>(
      std::count_if(frames_.begin(), frames_.end(), [type](const H2Frame& frame) { return frame.type == type; }));
}

std::uint64_t H2FrameReader::granted(std::uint32_t stream) const {
  std::uint64_t sum = 0;
  for (const H2Frame& frame : frames_) {
    if (frame.type == H2Type::kWindowUpdate && frame.stream == stream) sum += frame.firstWord();
  }
  return sum;
}

std::string H2FrameReader::body(std::uint32_t stream) const {
  std::string text;
  for (const H2Frame& frame : frames_) {
    if (frame.type == H2Type::kData && frame.stream == stream) text += frame.payload;
  }
  return text;
}

}  // namespace sluice::test
