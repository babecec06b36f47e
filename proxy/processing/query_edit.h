// Edits of a request's query: one parameter is set to the gateway's value, and all others of its name are removed.
//
// Pure functions over views; results live in the arena.
#pragma once

#include <string>
#include <string_view>

#include "proxy/base/arena.h"

namespace sluice::processing {

/// Returns `text` encoded for the name or the value of a parameter: all but unreserved characters are percent-encoded
/// (RFC 3986 section 2.3).
std::string encodeQuery(std::string_view text);

/// Returns true if some server would take this parameter ("name=value" or "name") for one named `name`. Letter case and
/// percent-encodings do not matter, and elements of a list ("name[]=") are included.
bool namesParameter(std::string_view parameter, std::string_view name);

/// Returns `target` without the parameters named `name`, whether "&" or ";" separates them, and with `parameter`
/// ("name=value", encoded) at the end of the other parameters, which stay as they are. If `parameter` is empty, none is
/// added, and the "?" goes with the last one that is removed.
std::string_view replaceParameter(base::Arena& arena, std::string_view target, std::string_view name,
                                  std::string_view parameter);

}  // namespace sluice::processing
