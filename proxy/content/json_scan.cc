#include "proxy/content/json_scan.h"

#include <algorithm>
#include <utility>

#include "proxy/content/byte_order_mark.h"
#include "proxy/content/json_bytes.h"

namespace sluice::content {

bool JsonScan::feed(std::string_view piece) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != end && state_ != State::kFailed) {
    const bool isName = state_ == State::kName || state_ == State::kFirstName;
    const char* const behind = isName ? takeMembers(at, end) : at;
    at = behind == at ? take(at, end) : behind;
    if (at == nullptr) state_ = State::kFailed;
  }
  return state_ != State::kFailed;
}

bool JsonScan::end() {
  if (isNumberWhole()) endValue();
  if (state_ != State::kAfterValue || depth_ > 0) state_ = State::kFailed;
  return state_ != State::kFailed;
}

const char* JsonScan::take(const char* at, const char* end) {
  switch (state_) {
    case State::kMark:
      return takeMark(at, end);
    case State::kValue:
    case State::kFirstElement:
      return takeValue(at, end);
    case State::kFirstName:
    case State::kName:
    case State::kColon:
      return takeName(at, end);
    case State::kAfterValue:
      return takeAfterValue(at, end);
    case State::kString:
      return takeString(at, end);
    case State::kEscape:
    case State::kPairBackslash:
    case State::kPairLetter:
      return takeEscape(at, end);
    case State::kHex:
      return takeHex(at, end);
    case State::kMinus:
    case State::kZero:
    case State::kInteger:
    case State::kPoint:
    case State::kFraction:
    case State::kExponent:
    case State::kExponentSign:
    case State::kExponentDigits:
      return takeNumber(at, end);
    case State::kWord:
      return takeWord(at, end);
    case State::kFailed:
      return nullptr;
  }
  return nullptr;
}

// --- values ------------------------------------------------------------------------------------------------

const char* JsonScan::takeMark(const char* at, const char* end) {
  if (word_.empty()) {
    if (*at != kByteOrderMark.front()) {
      state_ = State::kValue;
      return at;
    }
    word_ = kByteOrderMark;
  }
  for (; at != end && !word_.empty(); ++at, word_.remove_prefix(1)) {
    if (*at != word_.front()) return nullptr;
  }
  if (word_.empty()) state_ = State::kValue;
  return at;
}

const char* JsonScan::takeValue(const char* at, const char* end) {
  at = skipSpace(at, end);
  if (at == end) return at;
  const char first = *at++;
  if (first == ']' && state_ == State::kFirstElement) {
    endContainer();
    return at;
  }
  if (depth_ > 0 && !inMap() && isOnPath()) beginElement();
  bool good = true;
  switch (first) {
    case '{':
      good = beginContainer(Value::Kind::kMap);
      break;
    case '[':
      good = beginContainer(Value::Kind::kList);
      break;
    case '"':
      beginString(beginValue(Value::Kind::kString) ? Use::kFound : Use::kNone);
      break;
    case 't':
      if (beginValue(Value::Kind::kBool)) found_->text = "true";
      word_ = "rue";
      state_ = State::kWord;
      break;
    case 'f':
      if (beginValue(Value::Kind::kBool)) found_->text = "false";
      word_ = "alse";
      state_ = State::kWord;
      break;
    case 'n':
      beginValue(Value::Kind::kNull);
      word_ = "ull";
      state_ = State::kWord;
      break;
    default:
      if (first != '-' && (first < '0' || first > '9')) return nullptr;
      use_ = beginValue(Value::Kind::kNumber) ? Use::kFound : Use::kNone;
      put(at - 1, at);
      state_ = first == '-' ? State::kMinus : first == '0' ? State::kZero : State::kInteger;
      break;
  }
  return good ? at : nullptr;
}

/// Begins a value. Returns true if it is the value to be found.
bool JsonScan::beginValue(Value::Kind kind) {
  if (!std::exchange(selected_, false) || depth_ != path_.size()) return false;
  found_.emplace().kind = kind;
  return true;
}

/// Begins a list or a map. Returns false if it would be nested too deeply.
bool JsonScan::beginContainer(Value::Kind kind) {
  if (depth_ == kMostDepth) return false;
  const bool through = selected_ && depth_ < path_.size();
  beginValue(kind);
  maps_ = maps_ << 1 | (kind == Value::Kind::kMap ? 1 : 0);
  if (through) {
    elements_[depth_] = 0;
    ++onPath_;
  }
  ++depth_;
  if (kind == Value::Kind::kMap) {
    names_.open();
    state_ = State::kFirstName;
    return true;
  }
  state_ = State::kFirstElement;
  if (!countsFromEnd()) return true;
  if (lastOnes_.size() < depth_) lastOnes_.resize(depth_);
  lastOnes_[depth_ - 1].clear();
  return true;
}

void JsonScan::beginElement() {
  const std::uint64_t number = elements_[depth_ - 1]++;
  const std::optional<std::int32_t>& index = step().index;
  selected_ = index && (*index < 0 || static_cast<std::uint64_t>(*index) == number);
  if (selected_ && *index < 0) found_.reset();
}

void JsonScan::endValue() {
  state_ = State::kAfterValue;
  if (!countsFromEnd()) return;
  auto& last = lastOnes_[depth_ - 1];
  last.push_back(std::exchange(found_, std::nullopt));
  if (last.size() > static_cast<std::size_t>(-static_cast<std::int64_t>(*step().index))) last.pop_front();
}

void JsonScan::endContainer() {
  if (countsFromEnd()) {
    auto& last = lastOnes_[depth_ - 1];
    const bool enough = last.size() == static_cast<std::size_t>(-static_cast<std::int64_t>(*step().index));
    found_ = enough ? std::move(last.front()) : std::nullopt;
    last.clear();
  }
  if (inMap()) names_.close();
  if (isOnPath()) --onPath_;
  maps_ >>= 1;
  --depth_;
  endValue();
}

const char* JsonScan::takeName(const char* at, const char* end) {
  at = skipSpace(at, end);
  if (at == end) return at;
  const char c = *at++;
  if (state_ == State::kColon) {
    state_ = State::kValue;
    return c == ':' ? at : nullptr;
  }
  if (c == '}' && state_ == State::kFirstName) {
    endContainer();
    return at;
  }
  if (c != '"') return nullptr;
  name_ = {};
  wanted_ = isOnPath() && step().name ? &*step().name : nullptr;
  alike_ = 0;
  beginString(Use::kName);
  return at;
}

/// Takes members that need no decision, at once: those outside of the path whose name and colon are whole and plain,
/// and their values too where these are such strings. Most bytes of most texts are in such members.
const char* JsonScan::takeMembers(const char* at, const char* end) {
  const std::string* const wanted = isOnPath() && step().name ? &*step().name : nullptr;
  while (true) {
    const char* const name = skipSpace(at, end);
    if (name == end || *name != '"') return at;
    const char* const nameEnd = skipPlain(name + 1, end);
    if (nameEnd == end || *nameEnd != '"') return at;
    const char* const colon = skipSpace(nameEnd + 1, end);
    const std::string_view bytes(name + 1, static_cast<std::size_t>(nameEnd - name - 1));
    if (colon == end || *colon != ':' || (wanted != nullptr && *wanted == bytes)) return at;
    NameHash hash;
    hash.add(bytes);
    if (!names_.add(hash.value())) return nullptr;
    selected_ = false;
    state_ = State::kValue;
    const char* const value = skipSpace(colon + 1, end);
    if (value == end || *value != '"') return value;
    const char* const valueEnd = skipPlain(value + 1, end);
    if (valueEnd == end || *valueEnd != '"') return value;
    state_ = State::kAfterValue;
    at = skipSpace(valueEnd + 1, end);
    if (at == end || *at != ',') return at;
    state_ = State::kName;
    if (++at == end) return at;
  }
}

const char* JsonScan::takeAfterValue(const char* at, const char* end) {
  at = skipSpace(at, end);
  if (at == end) return at;
  if (depth_ == 0) return nullptr;
  const char c = *at++;
  if (c == ',') {
    state_ = inMap() ? State::kName : State::kValue;
    return at;
  }
  if (c != (inMap() ? '}' : ']')) return nullptr;
  endContainer();
  return at;
}

// --- strings -----------------------------------------------------------------------------------------------

void JsonScan::beginString(Use use) {
  use_ = use;
  needed_ = 0;
  state_ = State::kString;
}

const char* JsonScan::takeString(const char* at, const char* end) {
  const char* const begin = at;
  // A character may have been cut between two pieces.
  if (needed_ > 0) at = takeCharacter(at, end);
  while (at != nullptr && at != end) {
    at = skipPlain(at, end);
    if (at == end || static_cast<unsigned char>(*at) < 0x80) break;
    at = takeCharacter(at, end);
  }
  if (at == nullptr) return nullptr;
  put(begin, at);
  if (at == end) return at;
  const char c = *at++;
  if (c == '"') return endString() ? at : nullptr;
  state_ = State::kEscape;
  return c == '\\' ? at : nullptr;
}

/// Takes a character of more than one byte, as RFC 3629 section 4 defines them.
const char* JsonScan::takeCharacter(const char* at, const char* end) {
  do {
    if (needed_ == 0) {
      const Utf8Rest rest = restOfUtf8(static_cast<unsigned char>(*at++));
      if (rest.count == 0) return nullptr;
      needed_ = rest.count;
      lowest_ = rest.lowest;
      highest_ = rest.highest;
    }
    for (; needed_ > 0 && at != end; ++at, --needed_) {
      const auto byte = static_cast<unsigned char>(*at);
      if (byte < lowest_ || byte > highest_) return nullptr;
      lowest_ = 0x80;
      highest_ = 0xBF;
    }
  } while (at != end && static_cast<unsigned char>(*at) >= 0x80);
  return at;
}

/// Reads the character behind a backslash, or the backslash between two halves of a surrogate pair.
const char* JsonScan::takeEscape(const char* at, const char* /*end*/) {
  const char c = *at++;
  if (state_ == State::kPairBackslash) {
    state_ = State::kPairLetter;
    return c == '\\' ? at : nullptr;
  }
  if (c == 'u') {
    state_ = State::kHex;
    needed_ = 4;
    code_ = 0;
    return at;
  }
  const char meant = escapeMeans(c);
  if (meant == '\0' || state_ == State::kPairLetter) return nullptr;
  put(&meant, &meant + 1);
  state_ = State::kString;
  return at;
}

const char* JsonScan::takeHex(const char* at, const char* end) {
  for (; at != end && needed_ > 0; ++at, --needed_) {
    const int digit = hexDigit(*at);
    if (digit < 0) return nullptr;
    code_ = static_cast<std::uint16_t>(code_ << 4 | digit);
  }
  return needed_ > 0 || endCode() ? at : nullptr;
}

/// Returns false if half of a surrogate pair occurs alone.
bool JsonScan::endCode() {
  const std::uint16_t first = std::exchange(pair_, std::uint16_t{0});
  if (isLowSurrogate(code_) != (first != 0)) return false;
  if (isHighSurrogate(code_)) {
    pair_ = code_;
    state_ = State::kPairBackslash;
    return true;
  }
  const std::uint32_t code = first == 0 ? code_ : 0x10000 + ((first - 0xD800U) << 10) + (code_ - 0xDC00U);
  char bytes[4];
  put(bytes, writeUtf8(bytes, code));
  state_ = State::kString;
  return true;
}

bool JsonScan::endString() {
  if (use_ != Use::kName) {
    endValue();
    return true;
  }
  state_ = State::kColon;
  selected_ = wanted_ != nullptr && alike_ == wanted_->size();
  return names_.add(name_.value());
}

void JsonScan::put(const char* begin, const char* end) {
  const std::string_view bytes(begin, static_cast<std::size_t>(end - begin));
  switch (use_) {
    case Use::kNone:
      return;
    case Use::kName:
      name_.add(bytes);
      if (wanted_ == nullptr) return;
      if (wanted_->compare(alike_, bytes.size(), bytes) != 0) wanted_ = nullptr;
      alike_ += bytes.size();
      return;
    case Use::kFound:
      found_->isCut |= bytes.size() > mostText_ - found_->text.size();
      found_->text.append(bytes.substr(0, mostText_ - found_->text.size()));
      return;
  }
}

// --- numbers and words -------------------------------------------------------------------------------------

bool JsonScan::isNumberWhole() const {
  return state_ == State::kZero || state_ == State::kInteger || state_ == State::kFraction ||
         state_ == State::kExponentDigits;
}

/// Takes all characters that continue a number, and none that ends it.
const char* JsonScan::takeNumber(const char* at, const char* end) {
  const char* const begin = at;
  while (at != end) {
    const char c = *at;
    const bool digit = c >= '0' && c <= '9';
    State next = State::kFailed;
    switch (state_) {
      case State::kMinus:
        if (digit) next = c == '0' ? State::kZero : State::kInteger;
        break;
      case State::kZero:
      case State::kInteger:
        if (digit && state_ == State::kInteger) next = state_;
        if (c == '.') next = State::kPoint;
        if (c == 'e' || c == 'E') next = State::kExponent;
        break;
      case State::kPoint:
      case State::kFraction:
        if (digit) next = State::kFraction;
        if ((c == 'e' || c == 'E') && state_ == State::kFraction) next = State::kExponent;
        break;
      case State::kExponent:
        if (c == '+' || c == '-') next = State::kExponentSign;
        if (digit) next = State::kExponentDigits;
        break;
      default:  // behind the sign of an exponent
        if (digit) next = State::kExponentDigits;
        break;
    }
    if (next == State::kFailed) break;
    state_ = next;
    // Most digits of a number follow other digits.
    at = isNumberWhole() && state_ != State::kZero ? skipDigits(at, end) : at + 1;
  }
  put(begin, at);
  if (at == end) return at;
  if (!isNumberWhole()) return nullptr;
  endValue();
  return at;
}

const char* JsonScan::takeWord(const char* at, const char* end) {
  for (; at != end && !word_.empty(); ++at, word_.remove_prefix(1)) {
    if (*at != word_.front()) return nullptr;
  }
  if (word_.empty()) endValue();
  return at;
}

}  // namespace sluice::content
