// The grammar of names and values of fields (RFC 9110 section 5), and the fields that only a codec writes.
//
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "proxy/http/headers.h"

namespace sluice::http {

bool isFieldName(std::string_view name);  // RFC 9110 section 5.1: token
bool isFieldValue(
    std::string_view value);  // RFC 9110 section 5.5: VCHAR, SP, HTAB, obs-text; no leading or trailing space

/// RFC 9110 section 8.3.1: type/subtype with parameters; a list of two is refused. Only the value of a parameter may be
/// looser than its grammar: clients leave out the quotes around URIs, and no server takes those for a second type.
bool isMediaType(std::string_view value);

/// Returns true for a name, in lower case, that no configuration can set, remove or match on, because heads never
/// contain it: a field of framing, of one connection, or between a client and the gateway alone.
bool isReservedField(std::string_view lowerCaseName);

/// Returns true for framing, hop-by-hop and control fields. A codec alone writes them, from a head's members, and skips
/// them if a filter has put them into `headers`.
bool isCodecField(FieldId id);

}  // namespace sluice::http
