// Reads the fields that every use of a payload processor has, in any spelling; see processor_readers.h.
#include <algorithm>

#include "config/read/processors/processor_readers.h"
#include "config/read/processors/processor_settings.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxProcessorUses = 64;

void readOwnUse(FieldReader& reader, ProcessorUse& use) {
  reader.read(required("type"), use.type, rule::kProcessorType);
  reader.read("phase", use.phase, kProcessorPhases);
  readProcessorSettings(reader, use);
  const Value* config = reader.find("config");
  const Value* rawConfig = reader.find("rawConfig");
  if (config != nullptr && rawConfig != nullptr) reader.error("rawConfig", "must not be given together with config");
  for (const Value* given : {config, rawConfig}) {
    if (given == nullptr) continue;
    if (!given->isMap()) reader.error(given == config ? "config" : "rawConfig", "must be a map");
    use.config = *given;
  }
}

/// Returns the reader of the spelling that the use has.
auto readerOf(FieldReader& use) {
  const Value* type = use.find("type");
  if (type == nullptr) return use.has("backendRefs") ? readRemoteUse : readOwnUse;
  if (type->isString() && type->text == "InProcess") return readInProcessUse;
  if (type->isString() && type->text == "ExtProcess") return readExtProcessUse;
  return readOwnUse;
}

void readProcessorUse(FieldReader& reader, ProcessorUse& use) {
  reader.read(required("name"), use.name, rule::kRefName);
  const auto read = readerOf(reader);
  if (read != readOwnUse) reader.read("timeout", use.timeout);
  read(reader, use);
}

}  // namespace

void readProcessorUses(FieldReader& holder, std::string_view key, std::vector<ProcessorUse>& uses) {
  holder.read(key, uses, kMaxProcessorUses, readProcessorUse);
  checkNames(uses, holder);
}

void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder) {
  for (auto use = uses.begin(); use != uses.end(); ++use) {
    const bool repeated =
        std::any_of(uses.begin(), use, [&](const ProcessorUse& other) { return other.name == use->name; });
    if (repeated) holder.context().error(use->position, use->path + ".name", "repeats " + base::quote(use->name));
  }
}

}  // namespace sluice::config
