#include "proxy/content/form_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::content {
namespace {

constexpr std::string_view kSpaces = " \t";

std::string_view withoutSpaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// RFC 9110 section 5.6.2: tchar.
bool isOfToken(char c) {
  const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return isLetter || (c >= '0' && c <= '9') || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool isToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), isOfToken); }

bool isControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

/// RFC 2046 section 5.1.1: bchars.
bool mayBeInBoundary(char c) {
  const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return isLetter || (c >= '0' && c <= '9') || std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
}

/// A parameter of the value of a header field.
struct HeaderParameter {
  std::string_view name;
  std::string value;       // without quotes
  bool isEscaped = false;  // it has backslashes, which not all servers undo
};

/// Takes the text in quotes off `rest`, with both quotes. Returns false if it does not end.
bool takeQuotedValue(std::string_view& rest, HeaderParameter& to) {
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return true;
    }
    if (rest[i] == '\\') {
      to.isEscaped = true;
      if (++i == rest.size()) return false;
    }
    to.value += rest[i];
  }
  return false;
}

/// Takes the next parameter and the semicolon in front of it off `rest`, which is not empty. Behind a semicolon there
/// may be none (RFC 9110 section 5.6.6); its name is empty then. Returns nullopt for anything else, and for the forms
/// of RFC 2231 (`name*`, `name*0`), by which some servers replace another parameter. Only the name of a file may have
/// one.
std::optional<HeaderParameter> takeHeaderParameter(std::string_view& rest) {
  rest = withoutSpaces(rest);
  if (rest.empty() || rest.front() != ';') return std::nullopt;
  rest = withoutSpaces(rest.substr(1));
  if (rest.empty() || rest.front() == ';') return HeaderParameter();
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  HeaderParameter parameter;
  parameter.name = rest.substr(0, equals);
  const bool isExtended = parameter.name.find('*') != std::string_view::npos;
  if (!isToken(parameter.name) || (isExtended && !base::equalsIgnoringCase(parameter.name, "filename*"))) {
    return std::nullopt;
  }
  rest.remove_prefix(equals + 1);
  if (rest.starts_with('"')) {
    if (!takeQuotedValue(rest, parameter)) return std::nullopt;
  } else {
    const std::string_view word = rest.substr(0, rest.find_first_of("; \t"));
    if (!isToken(word)) return std::nullopt;
    parameter.value = word;
    rest.remove_prefix(word.size());
  }
  rest = withoutSpaces(rest);
  return parameter;
}

/// The facts about a part that its header states.
struct PartHeader {
  std::optional<HeaderParameter> name;
  bool isFile = false;     // it has a filename
  bool isEncoded = false;  // by a Content-Transfer-Encoding, which RFC 7578 section 4.7 has deprecated

  /// Reads the value of Content-Disposition. Returns false if it is not that of a form.
  bool readDisposition(std::string_view value) {
    if (name) return false;
    const std::string_view type = withoutSpaces(value.substr(0, value.find(';')));
    if (!base::equalsIgnoringCase(type, "form-data")) return false;
    std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
    while (!rest.empty()) {
      auto parameter = takeHeaderParameter(rest);
      if (!parameter) return false;
      isFile = isFile || base::equalsIgnoringCase(parameter->name, "filename") ||
               base::equalsIgnoringCase(parameter->name, "filename*");
      if (!base::equalsIgnoringCase(parameter->name, "name")) continue;
      if (name) return false;
      name = std::move(parameter);
    }
    return name.has_value();
  }
  /// Reads a line without its end. Returns false if it is no field.
  bool readLine(std::string_view line) {
    if (std::any_of(line.begin(), line.end(), isControl)) return false;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view field = line.substr(0, colon);
    if (field.find_first_of(kSpaces) != std::string_view::npos) return false;
    const std::string_view value = withoutSpaces(line.substr(colon + 1));
    if (base::equalsIgnoringCase(field, "content-disposition")) return readDisposition(value);
    if (base::equalsIgnoringCase(field, "content-transfer-encoding")) {
      isEncoded = !base::equalsIgnoringCase(value, "8bit") && !base::equalsIgnoringCase(value, "7bit") &&
                  !base::equalsIgnoringCase(value, "binary");
    }
    return true;
  }
};

}  // namespace

std::string FormScan::boundaryOf(std::string_view contentType) {
  std::string boundary;
  std::string_view rest = contentType.substr(std::min(contentType.find(';'), contentType.size()));
  while (!rest.empty()) {
    auto parameter = takeHeaderParameter(rest);
    if (!parameter) return {};
    if (!base::equalsIgnoringCase(parameter->name, "boundary")) continue;
    if (!boundary.empty() || parameter->value.empty() || parameter->isEscaped) return {};
    boundary = std::move(parameter->value);
  }
  const bool isValid = boundary.size() <= kMostBoundary && !boundary.ends_with(' ') &&
                       std::all_of(boundary.begin(), boundary.end(), mayBeInBoundary);
  return isValid ? boundary : std::string();
}

FormScan::FormScan(std::string_view boundary, std::string_view field, std::size_t mostText)
    : delimiter_("\n--"), field_(field), mostText_(mostText) {
  delimiter_ += boundary;
}

bool FormScan::feed(std::string_view piece) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != nullptr && at != end) at = take(at, end);
  if (at == nullptr && !piece.empty()) state_ = State::kFailed;
  return state_ != State::kFailed;
}

const char* FormScan::take(const char* at, const char* end) {
  switch (state_) {
    case State::kFirstDelimiter:
      return takeFirstDelimiter(at, end);
    case State::kAfterDelimiter:
      return takeAfterDelimiter(at);
    case State::kHeader:
      return takeHeader(at, end);
    case State::kContent:
      return takeContent(at, end);
    case State::kEpilogue:
      return takeEpilogue(at, end);
    case State::kFailed:
      break;
  }
  return nullptr;
}

const char* FormScan::takeFirstDelimiter(const char* at, const char* end) {
  for (; at != end && matched_ < delimiter_.size(); ++at, ++matched_) {
    if (*at != delimiter_[matched_]) return nullptr;
  }
  if (matched_ == delimiter_.size()) {
    state_ = State::kAfterDelimiter;
    last_ = '\0';
  }
  return at;
}

const char* FormScan::takeAfterDelimiter(const char* at) {
  const char c = *at++;
  if (last_ == '\0') {
    last_ = c;
    return c == '-' || c == '\r' ? at : nullptr;
  }
  if (c != (last_ == '-' ? '-' : '\n')) return nullptr;
  state_ = last_ == '-' ? State::kEpilogue : State::kHeader;
  header_.clear();
  return at;
}

const char* FormScan::takeHeader(const char* at, const char* end) {
  const auto rest = static_cast<std::size_t>(end - at);
  const auto* const line = static_cast<const char*>(std::memchr(at, '\n', rest));
  const char* const next = line != nullptr ? line + 1 : end;
  if (static_cast<std::size_t>(next - at) > kMostHeader - header_.size()) return nullptr;
  header_.append(at, next);
  if (line == nullptr) return next;
  if (!header_.ends_with("\r\n")) return nullptr;
  const bool isWhole = header_.ends_with("\r\n\r\n") || header_.size() == 2;
  return !isWhole || beginPart() ? next : nullptr;
}

/// Called when the header of a part is whole. Returns false if it is none of a form, or the field occurs again.
bool FormScan::beginPart() {
  PartHeader header;
  for (std::string_view rest = header_; rest.size() > 2;) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    if (!header.readLine(line)) return false;
    rest.remove_prefix(line.size() + 2);
  }
  if (!header.name) return false;
  state_ = State::kContent;
  last_ = '\0';
  matched_ = kLineEnd;
  atBeginning_ = true;
  if (header.name->value != field_) return true;
  if (header.name->isEscaped || header.isFile || header.isEncoded || found_) return false;
  wanted_ = true;
  found_.emplace().kind = Value::Kind::kString;
  return true;
}

const char* FormScan::takeContent(const char* at, const char* end) {
  while (at != end) {
    if (matched_ == 0) {
      const auto* const line = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      const char* const stop = line != nullptr ? line : end;
      put({at, static_cast<std::size_t>(stop - at)});
      if (stop != at) last_ = stop[-1];
      if (line == nullptr) return end;
      at = line + 1;
      matched_ = kLineEnd;
      afterReturn_ = last_ == '\r';
      continue;
    }
    if (*at == delimiter_[matched_]) {
      ++at;
      if (++matched_ == delimiter_.size()) return endPart() ? at : nullptr;
      continue;
    }
    // It was no delimiter. Only its first byte is a LF, so no other delimiter begins within it.
    const std::size_t first = atBeginning_ ? kLineEnd : 0;
    put(std::string_view(delimiter_).substr(first, matched_ - first));
    if (matched_ > first) last_ = delimiter_[matched_ - 1];
    matched_ = 0;
    atBeginning_ = false;
  }
  return at;
}

/// Called when the delimiter behind a part is whole. Returns false if it does not begin with a line end of its own.
bool FormScan::endPart() {
  if (atBeginning_ || !afterReturn_) return false;
  state_ = State::kAfterDelimiter;
  last_ = '\0';
  if (!std::exchange(wanted_, false)) return true;
  if (!found_->isCut) found_->text.pop_back();  // the CR
  found_->isCut = found_->text.size() > mostText_;
  found_->text.resize(std::min(found_->text.size(), mostText_));
  return true;
}

const char* FormScan::takeEpilogue(const char* at, const char* end) const {
  return std::all_of(at, end, [](char c) { return c == '\r' || c == '\n' || c == ' ' || c == '\t'; }) ? end : nullptr;
}

/// Keeps bytes of the value, and two more than are asked for: the CR in front of the delimiter, and one that shows that
/// the value is too long.
void FormScan::put(std::string_view bytes) {
  if (!wanted_) return;
  const std::size_t room = mostText_ + 2 - found_->text.size();
  found_->isCut = found_->isCut || bytes.size() > room;
  found_->text.append(bytes.substr(0, room));
}

}  // namespace sluice::content
