// The grammar of names and values of fields (RFC 9110 section 5), and the fields that nobody but a codec writes.
//
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "proxy/http/headers.h"

namespace sluice::http {

bool isFieldName(std::string_view name);  // RFC 9110 section 5.1: token
bool isFieldValue(
    std::string_view value);  // RFC 9110 section 5.5: VCHAR, SP, HTAB, obs-text; no leading or trailing space

/// RFC 9110 section 8.3.1: type/subtype with parameters, which a list of two is not. Only the value of a parameter may
/// be looser than its grammar: clients leave out the quotes around URIs, and nobody takes those for a second type.
bool isMediaType(std::string_view value);

/// A name in lower case that no configuration can set, remove or match on, because heads never hold it: of framing, of
/// one connection, or between a client and the gateway alone.
bool isReservedField(std::string_view lowerCaseName);

/// Framing, hop-by-hop and control fields: a codec alone writes them, from a head's members; in `headers` it passes
/// over them, whoever has put them there.
bool isCodecField(FieldId id);

}  // namespace sluice::http
