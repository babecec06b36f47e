#include "proxy/content/sse.h"

#include <algorithm>

#include "proxy/content/byte_order_mark.h"

namespace sluice::content {
namespace {

struct Line {
  std::string_view text;
  std::string_view end;  // CR, LF or CRLF; empty at the end of the text
};

Line takeLine(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_of("\r\n"), text.size());
  const std::size_t end = std::min<std::size_t>(text.size() - size, text.substr(size).starts_with("\r\n") ? 2 : 1);
  const Line line{text.substr(0, size), text.substr(size, end)};
  text.remove_prefix(size + end);
  return line;
}

struct SseField {
  std::string_view name;  // empty for a comment
  std::string_view value;
};

SseField fieldOf(std::string_view line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  std::string_view value = line.substr(std::min(line.size(), colon + 1));
  if (value.starts_with(' ')) value.remove_prefix(1);
  return {line.substr(0, colon), value};
}

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void appendData(std::string& out, std::string_view data, std::string_view lineEnd) {
  for (bool more = true; more;) {
    const Line line = takeLine(data);
    more = !line.end.empty();
    out.append("data: ").append(line.text).append(lineEnd);
  }
}

base::Status appendField(std::string& out, std::string_view name, const std::optional<std::string_view>& value) {
  if (!value) return base::Done{};
  if (value->find_first_of("\r\n") != std::string_view::npos) {
    return base::Error::config("the field " + std::string(name) + " of a server-sent event has a line break");
  }
  out.append(name).append(": ").append(*value).append("\n");
  return base::Done{};
}

}  // namespace

SseParser::Status SseParser::feed(std::string_view& in) {
  if (tooLong_) return Status::kTooLong;
  if (complete_) beginEvent();
  while (!in.empty()) {
    skipLineFeed(in);
    const std::size_t end = in.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      if (!take(in, in.size())) return Status::kTooLong;
      break;
    }
    afterCr_ = in[end] == '\r';
    if (!take(in, end + 1)) return Status::kTooLong;
    if (endsEvent()) {
      skipLineFeed(in);
      readFields();
      complete_ = true;
      first_ = false;
      return Status::kEvent;
    }
    lineBegin_ = buffer_.size();
  }
  return Status::kMore;
}

bool SseParser::finish() {
  // Nothing is counted if the rest is only the second half of a CRLF whose first half ended an event.
  if (tooLong_ || complete_ || counted_ == 0) return false;
  readFields();
  complete_ = true;
  first_ = false;
  return true;
}

bool SseParser::take(std::string_view& in, std::size_t count) {
  if (count > mostBytes_ - counted_) {
    tooLong_ = true;
    return false;
  }
  buffer_.append(in.substr(0, count));
  counted_ += count;
  in.remove_prefix(count);
  return true;
}

/// Takes the second half of a CRLF, if it is here. Where the first half ended an event that has been returned already,
/// the second half begins the next one.
void SseParser::skipLineFeed(std::string_view& in) {
  if (in.empty() || !afterCr_) return;
  afterCr_ = false;
  if (in.front() != '\n') return;
  buffer_ += '\n';
  in.remove_prefix(1);
  lineBegin_ = buffer_.size();
}

/// Returns true if the line that has just ended, by an end of one byte, is empty.
bool SseParser::endsEvent() const {
  const std::string_view line = std::string_view(buffer_).substr(lineBegin_, buffer_.size() - lineBegin_ - 1);
  return line.empty() || (first_ && lineBegin_ == 0 && line == kByteOrderMark);
}

void SseParser::beginEvent() {
  buffer_.clear();
  counted_ = lineBegin_ = 0;
  complete_ = false;
}

void SseParser::readFields() {
  event_ = {};
  event_.raw = buffer_;
  std::string_view lines = buffer_;
  if (first_ && lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  bool joined = false;
  while (!lines.empty()) {
    const SseField field = fieldOf(takeLine(lines).text);
    if (field.name == "event") {
      event_.event = field.value;
    } else if (field.name == "id") {
      if (field.value.find('\0') == std::string_view::npos) event_.id = field.value;
    } else if (field.name == "retry") {
      if (isNumber(field.value)) event_.retry = field.value;
    } else if (field.name == "data") {
      if (event_.data && !joined) data_ = *event_.data;
      joined = event_.data.has_value();
      if (joined) data_.append("\n").append(field.value);
      event_.data = joined ? std::string_view(data_) : field.value;
    }
  }
}

base::Status writeSseEvent(const SseEvent& event, std::string& out) {
  if (event.id && event.id->find('\0') != std::string_view::npos) {
    return base::Error::config("the field id of a server-sent event has a NUL");
  }
  if (event.retry && !isNumber(*event.retry)) {
    return base::Error::config("the field retry of a server-sent event is no number");
  }
  std::string text;
  if (auto written = appendField(text, "event", event.event); !written) return written;
  if (auto written = appendField(text, "id", event.id); !written) return written;
  if (auto written = appendField(text, "retry", event.retry); !written) return written;
  if (event.data) appendData(text, *event.data, "\n");
  out.append(text).append("\n");
  return base::Done{};
}

std::string sseEventWithData(std::string_view raw, std::string_view data) {
  std::string out;
  if (raw.starts_with(kByteOrderMark)) {
    out = kByteOrderMark;
    raw.remove_prefix(kByteOrderMark.size());
  }
  bool written = false;
  while (!raw.empty()) {
    const Line line = takeLine(raw);
    const std::string_view end = line.end.empty() ? "\n" : line.end;
    const bool isData = fieldOf(line.text).name == "data";
    if (!written && (isData || (line.text.empty() && raw.empty()))) {
      appendData(out, data, end);
      written = true;
    }
    if (!isData) out.append(line.text).append(end);
  }
  if (!written) appendData(out, data, "\n");
  return out;
}

}  // namespace sluice::content
