// Text in messages of protobuf, whose strings must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sluice::filters {

bool isUtf8(std::string_view text);
/// Returns the text in a form that a string field may have. Servers refuse a message with text that is no UTF-8, so in
/// such a text the bytes beyond ASCII are replaced by '!', as in Envoy.
std::string readableText(std::string_view value);
/// Keeps protobuf from writing to standard error when a server sends a message that is none. The gateway reports that
/// itself.
void muteProtobuf();

}  // namespace sluice::filters
