#include "proxy/http/h1/h1_chunked.h"

#include <algorithm>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

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
    if (!sizeLineByte(c)) return Status::kMalformed;
    if (state_ != State::kSize && state_ != State::kSizeLf) {
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
    case State::kBeforeSemicolon:
      return isBlank(c) || (c == ';' && afterElement(c));
    case State::kBeforeName:
      return beforeToken(c, State::kExtensionName);
    case State::kExtensionName:
    case State::kBeforeEquals:
      return nameByte(c);
    case State::kBeforeValue:
      if (c == '"') {
        state_ = State::kQuoted;
        return true;
      }
      return beforeToken(c, State::kExtensionToken);
    case State::kExtensionToken:
      return isTokenChar(c) || afterElement(c);
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

// Takes a byte of the name of an extension, or one behind it.
bool H1ChunkDecoder::nameByte(char c) {
  if (c == '=') {
    state_ = State::kBeforeValue;
    return true;
  }
  if (state_ == State::kBeforeEquals) return isBlank(c) || (c == ';' && afterElement(c));
  if (isTokenChar(c)) return true;
  if (!isBlank(c)) return afterElement(c);
  state_ = State::kBeforeEquals;
  return true;
}

bool H1ChunkDecoder::beforeToken(char c, State next) {
  if (isBlank(c)) return true;
  state_ = next;
  return isTokenChar(c);
}

bool H1ChunkDecoder::afterElement(char c) {
  state_ = c == ';' ? State::kBeforeName : isBlank(c) ? State::kBeforeSemicolon : State::kSizeLf;
  return c == ';' || c == '\r' || isBlank(c);
}

}  // namespace sluice::http
