#include "filters/wire_text.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "proxy/base/utf8.h"

namespace sluice::filters {

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const base::Utf8Character next = base::decodeUtf8(text);
    if (next.length == 0) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

std::string readableText(std::string_view value) {
  std::string text(value);
  if (isUtf8(text)) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '!');
  return text;
}

void muteProtobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace sluice::filters
