// The query of a request with one parameter of the gateway's own in it, and nobody else's of that name.
//
// Pure functions over views; results live in the arena.
#pragma once

#include <string>
#include <string_view>

#include "proxy/base/arena.h"

namespace sluice::processing {

/// `text` as it stands in the name or the value of a parameter: all but unreserved characters percent-encoded (RFC 3986
/// section 2.3).
std::string encodeQuery(std::string_view text);

/// A parameter, "name=value" or "name", that some server would take for one named `name`: in any case, with
/// percent-encodings, and as an element of a list ("name[]=").
bool namesParameter(std::string_view parameter, std::string_view name);

/// `target` without the parameters named `name`, whether "&" or ";" parts them, and with `parameter` ("name=value",
/// encoded) behind the rest, which stays as it is. Without `parameter` they only go, and with the last one the "?".
std::string_view replaceParameter(base::Arena& arena, std::string_view target, std::string_view name,
                                  std::string_view parameter);

}  // namespace sluice::processing
