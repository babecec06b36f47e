#include "proxy/compile/routes/compile_headers.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/http/hygiene.h"

namespace sluice::compile {
namespace {

Fault invalidField(const config::HeaderModifierFilter& modifier, std::string_view name, std::string_view text) {
  return fault(config::reason::kInvalid, modifier.path, std::string(name) + ": " + std::string(text));
}

std::optional<Fault> nameFault(const config::HeaderModifierFilter& modifier, std::string_view name) {
  if (!http::isFieldName(name)) return invalidField(modifier, "a name", "is not the name of a header field");
  if (http::isReservedField(name))
    return invalidField(modifier, name, "this field belongs to the gateway and cannot be modified");
  return std::nullopt;
}

bool contains(const std::vector<std::pair<std::string, std::string>>& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
}

/// Returns the authority in normal form; empty if `value` is not an authority.
std::string authorityFrom(std::string_view value) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto authority = http::normalizeAuthority(arena, value);
  return authority ? std::string(*authority) : std::string();
}

std::optional<Fault> compileSet(const config::HeaderModifierFilter& modifier, HeaderSection section,
                                routing::HeaderEdit& edit) {
  for (const config::HeaderValue& entry : modifier.set) {
    std::string name = base::toLower(entry.name);
    if (auto fault = nameFault(modifier, name)) return fault;
    if (!http::isFieldValue(entry.value)) return invalidField(modifier, name, "its value is not one of a header field");
    if (name != "host") {
      if (!contains(edit.set, name)) edit.set.emplace_back(std::move(name), entry.value);
      continue;
    }
    if (section == HeaderSection::kResponse) return invalidField(modifier, name, "responses have no such field");
    const std::string authority = authorityFrom(entry.value);
    if (authority.empty()) return invalidField(modifier, name, "its value is not host[:port]");
    if (edit.authority.empty()) edit.authority = authority;
  }
  return std::nullopt;
}

std::optional<Fault> compileAddAndRemove(const config::HeaderModifierFilter& modifier, routing::HeaderEdit& edit) {
  for (const config::HeaderValue& entry : modifier.add) {
    std::string name = base::toLower(entry.name);
    if (auto fault = nameFault(modifier, name)) return fault;
    if (name == "host") return invalidField(modifier, name, "there is exactly one: it can be set, not added");
    if (!http::isFieldValue(entry.value)) return invalidField(modifier, name, "its value is not one of a header field");
    if (!contains(edit.add, name)) edit.add.emplace_back(std::move(name), entry.value);
  }
  for (const std::string& written : modifier.remove) {
    std::string name = base::toLower(written);
    if (auto fault = nameFault(modifier, name)) return fault;
    if (name == "host") return invalidField(modifier, name, "there is exactly one: it can be set, not removed");
    edit.remove.push_back(std::move(name));
  }
  return std::nullopt;
}

}  // namespace

Resolved<base::Box<routing::HeaderEdit>> compileHeaders(const base::Box<config::HeaderModifierFilter>& modifier,
                                                        HeaderSection section) {
  if (!modifier) return base::Box<routing::HeaderEdit>();
  routing::HeaderEdit edit;
  if (auto fault = compileSet(*modifier, section, edit)) return *std::move(fault);
  if (auto fault = compileAddAndRemove(*modifier, edit)) return *std::move(fault);
  return base::Box<routing::HeaderEdit>(std::move(edit));
}

}  // namespace sluice::compile
