// Text in messages of protobuf, whose strings must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sluice::filters {

bool isUtf8(std::string_view text);
/// Returns the text as a string field may have it: servers refuse a message with text that is no UTF-8, so bytes beyond
/// ASCII are then replaced by '!', as Envoy does.
std::string readableText(std::string_view value);
/// Keeps protobuf from writing to standard error when a server sends a message that is none. The gateway reports that
/// itself.
void muteProtobuf();

}  // namespace sluice::filters
