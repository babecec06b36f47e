#include "proxy/http/h1/h1_chunked.h"

#include <algorithm>

#include "proxy/http/grammar.h"

namespace sluice::http {

H1ChunkDecoder::Status H1ChunkDecoder::next(std::string_view& input, std::size_t credit, std::string_view& data) {
  while (!input.empty()) {
    if (state_ == State::kData) {
      if (credit == 0) return Status::kBlocked;
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({remaining_, input.size(), credit}));
      data = input.substr(0, size);
      input.remove_prefix(size);
      remaining_ -= size;
      if (remaining_ == 0) state_ = State::kDataCr;
      return Status::kData;
    }
    const char c = input.front();
    input.remove_prefix(1);
    if (state_ == State::kDataCr || state_ == State::kDataLf) {
      if (c != (state_ == State::kDataCr ? '\r' : '\n')) return Status::kMalformed;
      state_ = state_ == State::kDataCr ? State::kDataLf : State::kSize;
      continue;
    }
    const bool endsLine = state_ == State::kSizeLf;
    const bool inExtension = !endsLine && state_ != State::kSize;
    if (!sizeLineByte(c)) return Status::kMalformed;
    if ((inExtension || c == ';') && state_ != State::kSizeLf) {
      if (extensionBytesLeft_ == 0) return Status::kExtensionsTooLong;
      --extensionBytesLeft_;
    }
    if (!endsLine) continue;
    digits_ = 0;
    state_ = remaining_ > 0 ? State::kData : State::kSize;
    if (state_ == State::kSize) return Status::kLastChunk;
  }
  return Status::kNeedMore;
}

bool H1ChunkDecoder::sizeLineByte(char c) {
  if (state_ == State::kSize) return sizeByte(c);
  if (state_ == State::kSizeLf) return c == '\n';
  return extensionByte(c);
}

bool H1ChunkDecoder::sizeByte(char c) {
  const int digit = hexValue(c);
  if (digit < 0) return digits_ > 0 && afterElement(c);
  if (++digits_ > 16) return false;
  remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
  return true;
}

bool H1ChunkDecoder::extensionByte(char c) {
  switch (state_) {
    case State::kExtensionName:
    case State::kExtensionToken:
      if (isTokenChar(c)) {
        elementEmpty_ = false;
        return true;
      }
      if (elementEmpty_) return false;
      if (c != '=' || state_ == State::kExtensionToken) return afterElement(c);
      state_ = State::kExtensionValue;
      return true;
    case State::kExtensionValue:
      elementEmpty_ = false;
      state_ = c == '"' ? State::kQuoted : State::kExtensionToken;
      return c == '"' || isTokenChar(c);
    case State::kQuoted:
      if (c == '"') {
        state_ = State::kAfterQuoted;
      } else if (c == '\\') {
        state_ = State::kQuotedPair;
      }
      return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    case State::kQuotedPair:
      state_ = State::kQuoted;
      return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    case State::kAfterQuoted:
      return afterElement(c);
    case State::kSize:
    case State::kSizeLf:
    case State::kData:
    case State::kDataCr:
    case State::kDataLf:
      return false;
  }
  return false;
}

bool H1ChunkDecoder::afterElement(char c) {
  elementEmpty_ = true;
  state_ = c == ';' ? State::kExtensionName : State::kSizeLf;
  return c == ';' || c == '\r';
}

}  // namespace sluice::http
